// Package page has a template and a view model for each page. Templates print what
// they are given; handlers in package web fill the models.
package page
