// Package expr resolves {{ }} templates and evaluates conditions. It is the only
// importer of the expression library.
//
// # Values
//
// Values are JSON values that keep what JSON says: nil, bool, string, int64 for
// integers that fit, [Number] for every other number (its literal is kept), []any,
// and *[Object], which keeps the order of its keys. They are shared and must not
// be changed.
//
// # Templates
//
// A placeholder is {{ and }} with a path or an expression between. A text that is
// exactly one placeholder, with nothing around it, gives the value itself, with
// its type: an object, a list, a number. In a longer text, a text value is put in as it is
// and any other value as JSON: null, true, 1.50, {"a":1}. Rendering is one pass:
// what comes out of a value is never read as a template, so a value may hold {{.
// To write two braces, put them in a string: {{"{{"}}.
//
// In JSON text ([ModeJSON]), a placeholder inside of a string literal is escaped
// for it, and one outside becomes JSON: {"text": "{{step.a.text}}", "all":
// {{step.a}}} is valid JSON whatever the values are.
//
// # Paths
//
//	workflow_input.customer.name   the input of the run
//	step.<id>.path                 the output of a step
//	_node_<id>, _node_<id>.path    the same; alone, the main result of the step
//	loop_item.path, loop_index     the item and the position (from 0) of the innermost loop
//	loop.<id>.item, .index         those of the loop with that id, for loops in loops
//	vars.name, name                a workflow variable
//	run.id, run.started_at, run.account
//	secret.<name>                  where a field allows it
//
// After that come keys and positions: a.b, a.list.0, a.list[0], a.list[-1] (the
// last), a["any key"], a['any key']. A key behind a dot may hold letters and
// digits of every script, marks, emoji, _ and -; any other key stands in brackets,
// as a JSON string. Step ids and variables are compared in Unicode normal form C;
// keys are compared as they are.
//
// A bare variable must not be called like a root, be a word of the expression
// language, begin with a digit, or hold a dash: vars.a-b or vars["in"] then.
//
// A path that leads nowhere is a [MissingError]: a missing key, a position beyond
// the end, anything below null, text, numbers and booleans, a step that has not run.
// A key whose value is null is not missing.
//
// # Expressions
//
// Whatever is no path is an expression. In it, a dash is a minus, except in the
// ids of known steps (step.legal-note.text, the longest known id) and in names of
// secrets; a key with a dash stands in brackets.
//
//	text        "a\n" 'a' `as it is`
//	numbers     1 1.5 1e3 0xff; whole numbers of any size are exact
//	others      true false null [1, 2] {name: 1, "any key": 2, (expression): 3}
//	arithmetic  + - * / % **, and + for two texts
//	compare     == != < <= > >=, 1 < x < 5
//	logic       and or not (also && || !), condition ? a : b, if condition { a } else { b }
//	contain     x in y, y contains x: a text its part, a list its item, an object its key
//	texts       startsWith endsWith matches (RE2), each also with not before it
//	members     a.b a[0] a[1:3] a?.b a?.[0]
//	names       let x = 1; x + 1
//	pipes       value | upper() is upper(value)
//	comments    /* … */ and // to the end of the line
//
// a ?? b is b if a is null or if anything that a reads is missing, at any depth:
// (step.a.n + 1) ?? 0, upper(step.a.text) ?? "". Only the predicate of a function
// such as filter needs its own ??. It binds weaker than it may look, so that it
// needs parentheses beside other operators: (x ?? 0) > 3.
//
// a?.b is null if a is missing or null, or if it has no b. Then all of the path is
// null: in a?.b.c, c is not read from a missing a.
//
// Whole numbers are added, subtracted and multiplied exactly; everything else is
// computed as a 64-bit float. Numbers are compared by value and exactly, whatever
// their form: 1 == 1.0. A number that is only passed on keeps its literal. Values
// of different types are never equal (false == "false" is false), and < and its
// kin are for two numbers or two texts only. A condition must be true or false:
// nothing else counts as one.
//
// # Functions
//
// Positions and lengths of texts are in characters (Unicode code points). None of
// the functions changes its values.
//
//	any value   len(x) type(x) string(x) json(x) toJSON(x) fromJSON(text) get(x, key)
//	            default(x, other): other if x is missing, null or ""
//	numbers     int(x) float(x) abs(x) floor(x) ceil(x) round(x) round(x, decimals)
//	            min(a, b, …) max(list) sum(list) sum(list, predicate) mean(list) median(list)
//	texts       upper lower trim(text) trim(text, characters) trimPrefix(text, part) trimSuffix
//	            split(text, separator) split(text, separator, most) join(list, separator)
//	            replace(text, old, new) repeat(text, n) indexOf(text, part) lastIndexOf
//	            hasPrefix hasSuffix toBase64 fromBase64
//	lists       first last take(list, n) slice(list or text, from, to) reverse sort(list)
//	            sort(list, "desc") uniq concat(a, b, …) flatten
//	loops       filter map all any none one find findIndex findLast findLastIndex count
//	            reduce(list, #acc + #, 0) groupBy(list, key) sortBy(list, key, "desc")
//	objects     keys values toPairs fromPairs merge(a, b, …)
//	instants    now() date(text) formatDate(instant, "YYYY-MM-DD HH:mm:ss", "Asia/Tokyo")
//	            addDuration(instant, "36h") secondsBetween(from, to)
//
// In the predicate of a loop, # is the item, .price is #.price, #index is the
// position, and #acc is what reduce has so far: filter(items, .price > 3). type gives
// null, boolean, string, number, array or object. Instants are texts in RFC 3339;
// now() is the same throughout one evaluation, and is all that depends on the time.
//
// # Bounds
//
// An expression has at most 64 KiB of source and 10,000 parts; a text has at most
// 100,000 placeholders; JSON is nested at most 10,000 deep. A result, and a
// rendered document, has at most 8 MiB as JSON. One evaluation of an expression
// takes at most a second and makes at most 64 MiB of values; it ends with its
// context. A pure path is looked up, without any of that.
//
// # Design
//
// The library parses, checks and runs the control flow: branches, names, loops.
// References, operators and functions are calls of our own, because the library's
// work on Go values, lose big integers, and compare across types. Nothing is
// cached by source: a plan compiles a document once and keeps it. Before parsing,
// a source is spelt anew (members in brackets, foreign words as plain identifiers),
// with a map back to the author's own positions.
package expr
