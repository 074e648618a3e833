// Package expr resolves {{ }} templates and evaluates conditions. It is the only
// importer of the expression library.
//
// Values are JSON values that keep what JSON says: nil, bool, string, int64 for
// integers that fit, [Number] for every other number (its literal is kept),
// []any, and *[Object], which keeps the order of its keys.
package expr
