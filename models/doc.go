// Package models keeps rows and answers queries, through GORM, on SQLite and on
// PostgreSQL. It knows nothing of the engine or of pages.
//
// Both dialects store the same bytes: times are UTC microseconds in 64-bit
// integers, JSON is text, ids are version 7 UUIDs. Every query of a tenant's rows
// names its account.
//
// SQLite has one connection that writes, with write-ahead log, synchronous=FULL and
// immediate transactions, and a pool that only reads, so that pages answer beside
// an open transaction. [DB.Write] hands out the only handle there is: using
// another one inside of it would wait for ever.
package models
