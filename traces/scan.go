package traces

// scan takes apart a line of the usual shape: an object with the known keys, each at most once, numbers without an
// exponent, a list of whole numbers. It reports false for everything else, valid or not, which is then left to
// decode; what it accepts, decode accepts with the same result. It is several times faster.
func (row *mooncakeRow) scan(text []byte) bool {
	*row = mooncakeRow{ids: row.ids[:0], ignored: row.ignored[:0]}
	s := scanner{text: text}
	if !s.next('{') {
		return false
	}
	for {
		if !row.member(&s) {
			return false
		}
		if s.next('}') {
			break
		}
		if !s.next(',') {
			return false
		}
	}
	s.space()
	return s.at == len(text)
}

// member reads "key": value.
func (row *mooncakeRow) member(s *scanner) bool {
	key, ok := s.key()
	if !ok || !s.next(':') {
		return false
	}
	if string(key) == "hash_ids" {
		again := row.hasIDs
		row.hasIDs = true
		return !again && s.list(&row.ids)
	}
	for i := range numberKeys {
		if string(key) == numberKeys[i].key {
			return row.once(i) && s.number(numberKeys[i].at(row))
		}
	}
	for i := range nameKeys {
		if string(key) == nameKeys[i].key {
			return row.once(len(numberKeys)+i) && s.name(&row.names[i])
		}
	}
	return false
}

// once reports whether a key is the first of its kind in the row.
func (row *mooncakeRow) once(key int) bool {
	again := row.seen&(1<<key) != 0
	row.seen |= 1 << key
	return !again
}

// scanner walks over a line.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// next skips white space and then c, if it is there.
func (s *scanner) next(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// key reads a string of small letters and underscores.
func (s *scanner) key() ([]byte, bool) {
	if !s.next('"') {
		return nil, false
	}
	from := s.at
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case c == '"':
			return s.text[from : s.at-1], true
		case c != '_' && (c < 'a' || c > 'z'):
			return nil, false
		}
	}
	return nil, false
}

// name reads a string of printable ASCII without escapes.
func (s *scanner) name(to *string) bool {
	if !s.next('"') {
		return false
	}
	from := s.at
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			*to = string(s.text[from:s.at])
			s.at++
			return s.ended()
		case c == '\\' || c < ' ' || c > '~':
			return false
		}
	}
	return false
}

// number reads a number without an exponent into *to.
func (s *scanner) number(to *[]byte) bool {
	s.space()
	from := s.at
	if s.at < len(s.text) && s.text[s.at] == '-' {
		s.at++
	}
	whole := s.digits()
	if whole == 0 || whole > 1 && s.text[s.at-whole] == '0' {
		return false
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if s.digits() == 0 {
			return false
		}
	}
	if !s.ended() {
		return false
	}
	*to = s.text[from:s.at]
	return true
}

func (s *scanner) digits() int {
	from := s.at
	for s.at < len(s.text) && s.text[s.at]-'0' <= 9 {
		s.at++
	}
	return s.at - from
}

// ended reports whether a value may end here.
func (s *scanner) ended() bool {
	if s.at == len(s.text) {
		return false
	}
	switch s.text[s.at] {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// list reads a list of whole numbers, none negative, of 18 digits at most.
func (s *scanner) list(to *[]int64) bool {
	if !s.next('[') {
		return false
	}
	if s.next(']') {
		return true
	}
	for {
		s.space()
		v, from := int64(0), s.at
		for s.at < len(s.text) && s.text[s.at]-'0' <= 9 {
			v = v*10 + int64(s.text[s.at]-'0')
			s.at++
		}
		if n := s.at - from; n == 0 || n > 18 || n > 1 && s.text[from] == '0' {
			return false
		}
		*to = append(*to, v)
		if s.next(']') {
			return true
		}
		if !s.next(',') {
			return false
		}
	}
}
