// Package nodes has the built-in kinds of node: one file each, registered by the
// explicit list in [Registry].
//
// # Config schemas
//
// A kind describes its config by a JSON Schema (draft 2020-12). Forms, validation
// and docs are drawn from it, so a new kind needs no TypeScript. Fields appear in
// the order in which the schema's text names them. Schemas are strict
// ("additionalProperties": false), so that a misspelt field is a finding; only the
// trigger's is open.
//
// Beyond JSON Schema's own title, description, default and enum:
//
//	"x-labels"  object: the words shown for the values of an enum
//	"x-mode"    how strings are read (template, text, json, literal, expression); it
//	            holds for everything below it. The default is template.
//	"x-secret"  true: {{secret.…}} may be used here, and the value is never shown
//	"x-ui"      object of hints for the form:
//	  widget       text, textarea, markdown, code, expression, json, number, switch,
//	               select, keyvalue, rows, list, object, schema, duration, model,
//	               recipe, department, users, hidden; absent: by type
//	  placeholder  text shown while empty
//	  rows         height in lines
//	  advanced     true: folded away at first
//	  show_if      object of field → value or list of values: shown only then
//
// Durations are text such as "90s", "1h30m", "2d" or "P1DT2H", or a number of
// seconds: see [ParseDuration].
//
// # Comparing values
//
// Rows of conditions compare JSON values by this table; the same rules hold
// wherever rows are used. Nothing is converted but text that is exactly a JSON
// number, which counts as that number beside a number.
//
//	equals         same type and same value. Numbers compare by exact value (1 is
//	               1.0, 0 is -0), objects regardless of key order. true is not
//	               "true", 0 is not false, null equals null only, "" is not null.
//	not_equals     the opposite of equals
//	contains       text in text; an equal element in a list; a key in an object.
//	               In null or a missing left side: false. In anything else: error.
//	not_contains   the opposite of contains
//	greater_than   numbers by value, otherwise two texts by code point (so ISO dates
//	less_than      compare as dates). With null on either side: false. Anything else
//	               is an error naming both types.
//	is_empty       null, "", [] and {}. Not 0, not false, not " ".
//	is_not_empty   the opposite of is_empty
//
// A path that has no value is an error of the step, as in every template; write
// {{step.a.score ?? null}} to compare a value that may be missing.
package nodes
