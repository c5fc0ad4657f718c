package names

import "bytes"

var (
	servantPrefixes = [][]byte{
		[]byte("abdul"), []byte("abdal"), []byte("abdel"), []byte("abdol"), []byte("abdur"), []byte("abdus"), []byte("abdir"),
		[]byte("abdil"), []byte("abdoul"),
	}
	faithSuffixes = [][]byte{
		[]byte("uddin"), []byte("eddin"), []byte("addin"), []byte("iddin"), []byte("uddine"), []byte("eddine"), []byte("addine"),
		[]byte("oddin"), []byte("ouddin"), []byte("aldin"), []byte("eldin"), []byte("uldin"), []byte("udin"),
	}
)

// endLatin ends a word in Latin letters. Compound names of Arabic origin are written in one word or in several; they
// become several: "abdulrahman" is "abd rahman", "salahuddin" is "salah din".
func (s *Splitter) endLatin(start int) {
	w := s.buf[start:]
	if len(w) >= 4 && w[0] == 'a' && w[1] == 'b' && w[2] == 'd' {
		s.endServant(start)
		return
	}
	if len(w) == 5 && string(w) == "allah" && s.Len() > 0 && string(s.Word(s.Len()-1)) == "abd" {
		s.mergeServantOfGod()
		return
	}
	if n := len(w); n >= 5 && (w[n-1] == 'n' || w[n-1] == 'e') {
		for _, suffix := range faithSuffixes {
			if !bytes.HasSuffix(w, suffix) {
				continue
			}
			if stem := n - len(suffix); stem >= 3 && (len(suffix) > 4 || stem >= 4) {
				s.buf = append(s.buf[:start+stem], "din"...)
				s.insertBreak(start, start+stem)
				s.push(start + stem)
				return
			} else if stem == 0 {
				s.buf = append(s.buf[:start], "din"...)
				break
			}
		}
	}
	s.push(start)
}

// endServant ends a word that begins with "abd", servant (of God, by one of his names).
func (s *Splitter) endServant(start int) {
	w := s.buf[start:]
	for _, prefix := range servantPrefixes {
		if !bytes.HasPrefix(w, prefix) {
			continue
		}
		rest := w[len(prefix):]
		switch {
		case len(rest) == 0:
			s.buf = s.buf[:start+3]
			s.push(start)
			return
		case string(rest) == "lah" || string(rest) == "la":
			s.buf = append(s.buf[:start], "abdullah"...)
			s.push(start)
			return
		case len(rest) >= 3:
			n := copy(s.buf[start+3:], rest)
			s.buf = s.buf[:start+3+n]
			s.insertBreak(start, start+3)
			s.push(start + 3)
			return
		}
	}
	s.push(start)
}

// mergeServantOfGod replaces the words "abd" and "allah" by the one that they mostly are.
func (s *Splitter) mergeServantOfGod() {
	last := len(s.ends) - 1
	s.word.source.start = s.sources[last].start
	s.ends, s.sources = s.ends[:last], s.sources[:last]
	start := 0
	if n := len(s.ends); n > 0 {
		start = int(s.ends[n-1])
	}
	s.buf = append(s.buf[:start], "abdullah"...)
	s.push(start)
}

// abjadWords are short words of Arabic and Hebrew as they are written in Latin letters.
var abjadWords = map[string]string{
	"bn": "bin", "abn": "ibn", "abd": "abd", "abw": "abu", "aby": "abu", "al": "al", "bnt": "bint", "wld": "ould", "am": "umm",
	"bw": "abu", "abdallh": "abdullah", "abdlh": "abdullah", "abdullh": "abdullah", "aldyn": "din", "dyn": "din",
}

// endAbjad ends a word of a script without vowels.
func (s *Splitter) endAbjad(start int) {
	w := s.buf[start:]
	if latin, found := abjadWords[string(w)]; found {
		s.buf = append(s.buf[:start], latin...)
		s.push(start)
		return
	}
	if string(w) == "allh" && s.Len() > 0 && string(s.Word(s.Len()-1)) == "abd" {
		s.mergeServantOfGod()
		return
	}
	if len(w) >= 8 && bytes.HasPrefix(w, []byte("abdal")) { // abd al-
		rest := bytes.Clone(w[5:])
		s.buf = append(s.buf[:start], "abd"...)
		s.push(start)
		start = len(s.buf)
		s.buf = append(s.buf, abjadMark)
		s.buf = append(s.buf, rest...)
		s.push(start)
		return
	}
	if len(w) >= 5 && w[0] == 'a' && w[1] == 'l' { // the article
		w = w[2:]
	}
	w = bytes.Clone(w)
	s.buf = append(append(s.buf[:start], abjadMark), w...)
	s.push(start)
}

// joinInitials joins three or more consecutive words of one letter, which are an abbreviation: "L.X.C" is "lxc".
func (s *Splitter) joinInitials() {
	for i := 0; i+2 < s.Len(); i++ {
		n := i
		for n < s.Len() && len(s.Word(n)) == 1 {
			n++
		}
		if n-i < 3 {
			continue
		}
		s.sources[n-1].start = s.sources[i].start
		s.ends = append(s.ends[:i], s.ends[n-1:]...)
		s.sources = append(s.sources[:i], s.sources[n-1:]...)
	}
}
