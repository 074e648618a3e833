package expr

import (
	"encoding/hex"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// speller spells a source so that the expression library's parser reads it:
// members in brackets, and words that the library's lexer would cut as plain
// identifiers. So ids and keys in any script, with digits first or with dashes,
// work. Strings and comments stay as they are.
type speller struct {
	src   string
	steps idSet
	at    int
	out   strings.Builder
	runes int // written so far; the library counts positions in runes
	marks []mark
	// operand is set after a value, where a dot reads a member.
	operand bool
	// unclosed is where a string begins that has no end, or -1.
	unclosed int
}

// mark says which byte of the source a rune of the output came from.
type mark struct{ out, src int }

// Prefixes of what stands for a word and for an integer beyond int64.
const (
	wordPrefix   = "__word_"
	numberPrefix = "__number_"
)

func spell(src string, steps idSet) *speller {
	s := &speller{src: src, steps: steps, unclosed: -1}
	s.out.Grow(len(src) + 32)
	for s.at < len(src) {
		s.token()
	}
	return s
}

// put writes text that stands for the source from a position on.
func (s *speller) put(text string, src int) {
	s.marks = append(s.marks, mark{s.runes, src})
	s.out.WriteString(text)
	s.runes += utf8.RuneCountInString(text)
}

// copy writes the next n bytes as they are.
func (s *speller) copy(n int) {
	s.put(s.src[s.at:s.at+n], s.at)
	s.at += n
}

// source is the byte offset in the source of a rune of the output.
func (s *speller) source(rune int) int {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].out > rune }) - 1
	if i < 0 {
		return 0
	}
	end := len(s.src)
	if i+1 < len(s.marks) {
		end = s.marks[i+1].src
	}
	at := s.marks[i].src
	for n := rune - s.marks[i].out; n > 0 && at < end; n-- {
		_, size := utf8.DecodeRuneInString(s.src[at:])
		at += size
	}
	return at
}

func (s *speller) token() {
	rest := s.src[s.at:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case unicode.IsSpace(r):
		s.copy(size)
	case r == '"' || r == '\'' || r == '`':
		s.string(rest)
	case strings.HasPrefix(rest, "//"):
		s.copy(lengthTo(rest, "\n"))
	case strings.HasPrefix(rest, "/*"):
		s.copy(lengthTo(rest, "*/"))
	case isDigit(r):
		s.number(rest)
	case r == '#':
		s.copy(1 + prefix(rest[1:], isASCIIWord))
		s.operand = true
	case r == '.':
		s.dot(rest)
	case r == '?':
		s.question(rest)
	case isWord(r):
		s.word(rest[:prefix(rest, isWord)])
	default:
		s.copy(size)
		s.operand = r == ')' || r == ']' || r == '}'
	}
}

// string copies a string. One that JSON can read is written anew, because JSON
// knows escapes that the library does not.
func (s *speller) string(rest string) {
	n := stringLen(rest)
	s.operand = true
	if n < 2 || rest[n-1] != rest[0] {
		s.unclosed = s.at
	}
	if rest[0] != '`' && strings.ContainsRune(rest[:n], '\\') {
		if text, _, ok := quoted(rest[:n]); ok {
			s.put(strconv.Quote(text), s.at)
			s.at += n
			return
		}
	}
	s.copy(n)
}

func lengthTo(s, end string) int {
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s)
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isASCIIWord(r rune) bool { return r < utf8.RuneSelf && isWord(r) }

// number copies a number. An integer beyond int64 becomes an identifier, so that
// it stays exact.
func (s *speller) number(rest string) {
	n := prefix(rest, isASCIIWord)
	if n < len(rest)-1 && rest[n] == '.' && isDigit(rune(rest[n+1])) {
		n++
		n += prefix(rest[n:], isASCIIWord)
	} else if digits := strings.TrimLeft(rest[:n], "0"); prefix(digits, isDigit) == len(digits) && digits != "" {
		if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
			s.put(numberPrefix+digits, s.at)
			s.at += n
			s.operand = true
			return
		}
	}
	s.copy(n)
	s.operand = true
}

func (s *speller) dot(rest string) {
	switch {
	case strings.HasPrefix(rest, ".."):
		s.copy(2)
		s.operand = false
	case !s.operand && len(rest) > 1 && isDigit(rune(rest[1])):
		s.copy(1)
		s.number(s.src[s.at:])
	default:
		s.member(1, false)
	}
}

func (s *speller) question(rest string) {
	switch {
	case strings.HasPrefix(rest, "??"):
		s.copy(2)
		s.operand = false
	case strings.HasPrefix(rest, "?.") && (len(rest) == 2 || !isDigit(rune(rest[2]))):
		s.member(2, true)
	default:
		s.copy(1)
		s.operand = false
	}
}

// member spells .key or ?.key with brackets.
func (s *speller) member(dot int, optional bool) {
	rest := s.src[s.at+dot:]
	key := strings.TrimLeftFunc(rest, unicode.IsSpace)
	start := s.at + dot + len(rest) - len(key)
	key = key[:prefix(key, isWord)]
	after := strings.TrimLeftFunc(s.src[start+len(key):], unicode.IsSpace)
	if key == "" || optional && !s.operand || strings.HasPrefix(after, "(") {
		s.copy(dot) // not a member; the library says what it is
		return
	}
	if !s.operand {
		s.put("#", s.at) // .price in a predicate
	}
	s.key(key, s.at, optional)
	s.at = start + len(key)
}

func (s *speller) key(key string, src int, optional bool) {
	text := "[" + strconv.Quote(key) + "]"
	if optional {
		text = "?." + text
	}
	s.put(text, src)
	s.operand = true
}

// word spells a keyword, a function's name, or a reference.
func (s *speller) word(word string) {
	rest := s.src[s.at+len(word):]
	switch {
	case isOperator(word):
		s.copy(len(word))
		s.operand = false
		return
	case word == "null":
		s.put("nil", s.at)
		s.at += len(word)
		s.operand = true
		return
	case word == string(RootStep) || word == string(RootLoop) || word == string(RootSecret):
		if s.named(word, rest) {
			return
		}
	case strings.HasPrefix(word, string(RootNode)):
		if s.node(word) {
			return
		}
	}
	s.put(spellWord(word), s.at)
	s.at += len(word)
	s.operand = true
}

// named spells step.<id>, loop.<id> and secret.<name>.
func (s *speller) named(word, rest string) bool {
	dot := 1
	if optional := strings.HasPrefix(rest, "?."); optional {
		dot = 2
	} else if !strings.HasPrefix(rest, ".") {
		return false
	}
	name := rest[dot:]
	size := s.steps.longest(name)
	if word == string(RootSecret) {
		size = prefix(name, isSegment) // nobody subtracts from a secret
	} else if size == 0 {
		size = prefix(name, isWord)
	}
	if size == 0 {
		return false
	}
	s.put(word, s.at)
	s.key(name[:size], s.at+len(word)+dot, dot == 2)
	s.at += len(word) + dot + size
	return true
}

// node spells _node_<id>.
func (s *speller) node(word string) bool {
	n := len(RootNode)
	size := s.steps.longest(s.src[s.at+n:])
	if size == 0 {
		size = len(word) - n
	}
	if size == 0 {
		return false
	}
	s.put(nodeWord, s.at)
	s.key(s.src[s.at+n:s.at+n+size], s.at, false)
	s.at += n + size
	return true
}

// spellWord is an identifier for the library's lexer; see unspell.
func spellWord(word string) string {
	if prefix(word, isASCIIWord) == len(word) && !isDigit(rune(word[0])) {
		return word
	}
	return wordPrefix + hex.EncodeToString([]byte(word))
}

// unspell is the word that an identifier stands for.
func unspell(identifier string) string {
	if code, ok := strings.CutPrefix(identifier, wordPrefix); ok {
		if word, err := hex.DecodeString(code); err == nil {
			return string(word)
		}
	}
	return identifier
}
