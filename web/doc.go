// Package web serves everything: it decodes requests, calls [app.Service], fills
// view models and renders them. routes.go lists the pages; server.go joins them with
// API, websocket, metrics and static files.
package web
