package match

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"slices"
	"unsafe"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// Index finds the entries of lists by their names. It consists of arrays without pointers, which are a file as they are:
// see Open. It is safe for concurrent use.
type Index struct {
	// Lists describe the lists, in the order of their entries.
	Lists []Info

	// words are the distinct words of all names and of two neighbours written as one.
	words []names.Word
	// infos are what the score needs to know of each word, uses says whether it is one of a name or a join.
	infos []wordInfo
	uses  []wordUse
	// A key finds words: those whose keys fall into bucket b are keyWords[keyStarts[b]:keyStarts[b+1]], 24 bits of the
	// word and 8 of the key. keyBits has a bit set for each key, so that most keys that no word has are found out at
	// once.
	keyStarts []uint32
	keyWords  []uint32
	keyBits   []uint64
	// postStarts has two ranges of posts for each word: those of names of persons, then those of organisations.
	postStarts []uint32
	posts      []post
	names      []nameRecord
	// nameWords are the words of each name, then its joins: see nameRecord.
	nameWords []uint32
	// texts are the texts of all names.
	texts []byte
	// entries are the places of the entries' facts in facts, one more than there are entries.
	entries []uint32
	facts   []byte
	// identifiers are sorted by their hashes.
	identifiers []identifierPost

	// shift makes a bucket of a key.
	shift uint8
	// unmap ends the mapping of a file; nil if there is none.
	unmap func() error
}

// Info describes a list of an index.
type Info struct {
	// List is the name of the list.
	List string `json:"list"`
	// Version is the digest of the list's date and entries, in hex.
	Version string `json:"version"`
	// SourceDate is the date of the list as its file says, in the format of RFC 3339; "" if it does not.
	SourceDate string `json:"source_date,omitempty"`
	Format     string `json:"format"`
	Entries    int    `json:"entries"`
	// Names is the number of names that can match; Unmatchable is the number of those that cannot.
	Names       int `json:"names"`
	Unmatchable int `json:"unmatchable"`
}

// post is one occurrence of a word in a name.
type post struct {
	signature
	name uint32
	// weight is that of all words of the name.
	weight uint16
	// n is the number of words in prints, or more if it is above maxPrints.
	n uint8
	_ [5]uint8
	// prints are 9 bits of each word, from the low bits on.
	prints uint64
}

// maxPrints is the number of words of a name that a post has the prints of.
const maxPrints = 7

// printSet is a set of prints of words.
type printSet [8]uint64

func (s *printSet) add(i wordInfo) { s[i.print()>>6] |= 1 << (i.print() & 63) }

// mayMeet reports whether a name may have a word of the set.
func (s *printSet) mayMeet(p *post) bool {
	if p.n > maxPrints {
		return true
	}
	prints := p.prints
	for range p.n {
		if s[prints>>6&7]>>(prints&63)&1 != 0 {
			return true
		}
		prints >>= 9
	}
	return false
}

// signature tells with some certainty which words a name does not have: each word sets a bit of words, each join one of
// joins. Words with the same consonants share theirs, and most similar words have the same consonants.
type signature struct {
	words [2]uint64
	joins uint32
}

func (s *signature) addWord(i wordInfo) { s.words[i.signature()>>6] |= 1 << (i.signature() & 63) }
func (s *signature) addJoin(i wordInfo) { s.joins |= 1 << (i.signature() & 31) }

func (s *signature) hasWord(i wordInfo) bool {
	return s.words[i.signature()>>6]>>(i.signature()&63)&1 != 0
}
func (s *signature) hasJoin(i wordInfo) bool { return s.joins>>(i.signature()&31)&1 != 0 }

// meets reports whether two signatures have a bit in common.
func (s *signature) meets(o *signature) bool {
	return s.words[0]&o.words[0]|s.words[1]&o.words[1]|uint64(s.joins&o.joins) != 0
}

// add adds the bits of another signature.
func (s *signature) add(o *signature) {
	s.words[0] |= o.words[0]
	s.words[1] |= o.words[1]
	s.joins |= o.joins
}

// wordInfo is what the score needs to know of a word: 8 bits of its weight in each mode, wordBits, and 7 bits of its
// signature.
type wordInfo uint32

// wordBits of a wordInfo.
const (
	tellingPerson       wordInfo = 1 << 16
	tellingOrganisation wordInfo = 1 << 17
	shortWord           wordInfo = 1 << 18
)

func newWordInfo(w *names.Word) wordInfo {
	info := wordInfo(w.Weight[names.Person]) | wordInfo(w.Weight[names.Organisation])<<8
	if w.IsTelling(names.Person) {
		info |= tellingPerson
	}
	if w.IsTelling(names.Organisation) {
		info |= tellingOrganisation
	}
	if w.IsShort() {
		info |= shortWord
	}
	h := w.ConsonantHash()
	return info | wordInfo(h>>57)<<24 | wordInfo(h>>50&3)<<19
}

func (i wordInfo) signature() uint8 { return uint8(i >> 24) }

// print returns 9 bits by which words are told apart.
func (i wordInfo) print() uint16 { return uint16(i>>24&0x7f) | uint16(i>>19&3)<<7 }

func (i wordInfo) weight(mode names.Mode) int32   { return int32(i >> (8 * mode) & 0xff) }
func (i wordInfo) isTelling(mode names.Mode) bool { return i&(tellingPerson<<mode) != 0 }
func (i wordInfo) isShort() bool                  { return i&shortWord != 0 }

// nameRecord is one name of an entry. Its words are nameWords[words:words+n], its joins the n-1 that follow.
type nameRecord struct {
	entry  uint32
	words  uint32
	text   uint32
	length uint16
	n      uint8
	mode   names.Mode
	kind   watchlist.NameKind
	_      [3]uint8
}

// Limits of an index, which follow from its keys.
const (
	maxWords = 1 << 24
	maxNames = 1 << 24
)

// wordUse says where a word occurs.
type wordUse uint8

const (
	// usedAlone words are words of a name.
	usedAlone wordUse = 1 << iota
	// usedAsJoin words are two neighbours written as one.
	usedAsJoin
)

// keyBitsPerBucket is the logarithm of the number of bits in keyBits for each bucket.
const keyBitsPerBucket = 3

// mayHave reports whether any word may have a key.
func (x *Index) mayHave(key uint64) bool {
	bit := key >> (x.shift - keyBitsPerBucket)
	return x.keyBits[bit/64]>>(bit%64)&1 != 0
}

// appendWords appends the words that may have a key.
func (x *Index) appendWords(ids []uint32, key uint64) []uint32 {
	b := key >> x.shift
	for _, w := range x.keyWords[x.keyStarts[b]:x.keyStarts[b+1]] {
		if byte(w>>24) == byte(key>>8) {
			ids = append(ids, w&(maxWords-1))
		}
	}
	return ids
}

// builder collects what an index is made of.
type builder struct {
	index    *Index
	analyzer *Analyzer
	ids      map[names.Identity]uint32
	seen     map[uint64]bool
	info     Info
}

// Source is a list of which an index is made.
type Source struct {
	// Name is how hits name the list.
	Name   string
	Format watchlist.Format
	List   *watchlist.List
}

// Build makes the index of lists. The result is the same whenever the lists are.
func Build(sources ...Source) *Index {
	b := builder{index: &Index{}, analyzer: NewAnalyzer(), ids: map[names.Identity]uint32{}}
	x := b.index
	for _, source := range sources {
		b.addList(source)
	}
	x.entries = append(x.entries, uint32(len(x.facts)))
	b.sortWords()
	for i := range x.words {
		x.infos = append(x.infos, newWordInfo(&x.words[i]))
	}
	b.addPosts()
	b.addKeys()
	x.sortIdentifiers()
	return x
}

// addList adds the entries of a list.
func (b *builder) addList(source Source) {
	x, list := b.index, source.List
	b.info = Info{List: source.Name, Format: string(source.Format), Entries: len(list.Entries)}
	if !list.SourceDate.IsZero() {
		b.info.SourceDate = list.SourceDate.UTC().Format("2006-01-02T15:04:05Z")
	}
	digest := sha256.New()
	digest.Write([]byte(b.info.SourceDate + "\n"))
	for i := range list.Entries {
		e := &list.Entries[i]
		b.seen = map[uint64]bool{}
		for _, n := range e.Names {
			for _, mode := range modesOf(e.Schema) {
				b.addName(len(x.entries), n, mode)
			}
		}
		for _, id := range e.Identifiers {
			if hash := identifierHash(id.Value); hash != 0 {
				x.identifiers = append(x.identifiers, identifierPost{hash: hash, entry: uint32(len(x.entries))})
			}
		}
		fact, _ := json.Marshal(e) // an entry has nothing that cannot be written
		digest.Write(append(fact, '\n'))
		x.entries = append(x.entries, uint32(len(x.facts)))
		x.facts = append(x.facts, fact...)
	}
	b.info.Version = hex.EncodeToString(digest.Sum(nil))
	x.Lists = append(x.Lists, b.info)
}

// addName adds a name of an entry. Names that say nothing are left out, and those that fold to what the entry has.
func (b *builder) addName(entry int, n watchlist.Name, mode names.Mode) {
	x := b.index
	analyzed := b.analyzer.Analyze(n.Text)
	f := analyzed.in(mode)
	if !f.isTelling(mode) || len(x.names) == maxNames {
		b.info.Unmatchable++
		return
	}
	identity := nameIdentity(&f, n.Kind, mode)
	if b.seen[identity] {
		return
	}
	b.seen[identity] = true
	b.info.Names++
	text := n.Text[:min(len(n.Text), 1<<16-1)]
	x.names = append(x.names, nameRecord{
		entry: uint32(entry), words: uint32(len(x.nameWords)), text: uint32(len(x.texts)), length: uint16(len(text)),
		n: uint8(len(f.words)), mode: mode, kind: n.Kind,
	})
	x.texts = append(x.texts, text...)
	for i := range f.words {
		x.nameWords = append(x.nameWords, b.id(&f.words[i], usedAlone))
	}
	for i := range f.joins {
		x.nameWords = append(x.nameWords, b.id(&f.joins[i], usedAsJoin))
	}
}

// nameIdentity is the same for names that match the same.
func nameIdentity(f *form, kind watchlist.NameKind, mode names.Mode) uint64 {
	h := fnv.New64a()
	var buf [8]byte
	for i := range f.words {
		binary.LittleEndian.PutUint64(buf[:], f.words[i].Hash)
		h.Write(buf[:])
	}
	for i := range f.words {
		h.Write([]byte{f.words[i].Identity().Script})
	}
	h.Write([]byte{byte(mode), boolByte(kind == watchlist.Weak)})
	return h.Sum64()
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// id returns the number of a word.
func (b *builder) id(w *names.Word, use wordUse) uint32 {
	id, found := b.ids[w.Identity()]
	if !found {
		id = uint32(len(b.index.words))
		b.ids[w.Identity()] = id
		b.index.words = append(b.index.words, *w)
		b.index.uses = append(b.index.uses, 0)
	}
	if use == usedAlone {
		b.index.words[id] = *w // a join knows less about itself
	}
	b.index.uses[id] |= use
	return id
}

// sortWords puts words with the same consonants next to each other, because they are looked up together.
func (b *builder) sortWords() {
	x := b.index
	order := make([]uint32, len(x.words))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(i, j uint32) int { return names.Compare(&x.words[i], &x.words[j]) })
	words, uses, places := slices.Clone(x.words), slices.Clone(x.uses), make([]uint32, len(order))
	for place, i := range order {
		x.words[place], x.uses[place], places[i] = words[i], uses[i], uint32(place)
	}
	for i, w := range x.nameWords {
		x.nameWords[i] = places[w]
	}
}

// addPosts adds the occurrences of all words, in the order of names.
func (b *builder) addPosts() {
	x := b.index
	counts := make([]uint32, 2*len(x.words)+1)
	each := func(f func(slot uint32, p post)) {
		for i := range x.names {
			r := &x.names[i]
			words := x.nameWords[r.words : r.words+uint32(r.n)*2-1]
			p := post{name: uint32(i)}
			for j, w := range words {
				if j < int(r.n) {
					p.addWord(x.infos[w])
					if p.n++; p.n <= maxPrints {
						p.prints |= uint64(x.infos[w].print()) << (9 * (p.n - 1))
					}
					p.weight += x.words[w].Weight[r.mode]
				} else {
					p.addJoin(x.infos[w])
				}
			}
			for j, w := range words {
				if !slices.Contains(words[:j], w) {
					f(2*w+uint32(r.mode), p)
				}
			}
		}
	}
	each(func(slot uint32, _ post) { counts[slot+1]++ })
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	x.postStarts = slices.Clone(counts)
	x.posts = make([]post, counts[len(counts)-1])
	each(func(slot uint32, p post) {
		x.posts[counts[slot]] = p
		counts[slot]++
	})
}

// addKeys adds the table that finds words by their keys.
func (b *builder) addKeys() {
	x := b.index
	type keyed struct {
		key  uint64
		word uint32
	}
	var pairs []keyed
	var keys []uint64
	for i := range x.words {
		w := &x.words[i]
		if keys = w.AppendJoinKeys(keys[:0]); x.uses[i]&usedAlone != 0 {
			keys = w.AppendKeys(keys)
		}
		for _, key := range keys {
			pairs = append(pairs, keyed{key, uint32(i)})
		}
	}
	slices.SortFunc(pairs, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.word, b.word)) })
	pairs = slices.Compact(pairs)
	bits := 4
	for 1<<bits < len(pairs) {
		bits++
	}
	x.shift = uint8(64 - bits)
	x.keyStarts = make([]uint32, 1<<bits+1)
	x.keyWords = make([]uint32, len(pairs))
	x.keyBits = make([]uint64, max(1<<(bits+keyBitsPerBucket)/64, 1))
	for i, p := range pairs {
		x.keyWords[i] = p.word | uint32(byte(p.key>>8))<<24
		x.keyStarts[p.key>>x.shift+1]++
		bit := p.key >> (x.shift - keyBitsPerBucket)
		x.keyBits[bit/64] |= 1 << (bit % 64)
	}
	for i := 1; i < len(x.keyStarts); i++ {
		x.keyStarts[i] += x.keyStarts[i-1]
	}
}

// listOf returns the list of an entry.
func (x *Index) listOf(entry uint32) *Info {
	i, rest := 0, int(entry)
	for rest >= x.Lists[i].Entries {
		rest -= x.Lists[i].Entries
		i++
	}
	return &x.Lists[i]
}

// Entry returns an entry.
func (x *Index) Entry(i uint32) (watchlist.Entry, error) {
	var e watchlist.Entry
	err := json.Unmarshal(x.facts[x.entries[i]:x.entries[i+1]], &e)
	return e, err
}

// text returns the text of a name.
func (x *Index) text(name uint32) string {
	r := &x.names[name]
	return unsafe.String(unsafe.SliceData(x.texts[r.text:]), int(r.length))
}
