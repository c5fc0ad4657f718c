package match

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"slices"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// builder collects the parts of an index.
type builder struct {
	index    *Index
	analyzer *Analyzer
	ids      map[names.Identity]uint32
	seen     map[uint64]bool
	info     Info
}

// Source is a list for an index.
type Source struct {
	// Name is the name of the list in hits.
	Name   string
	Format watchlist.Format
	List   *watchlist.List
}

// Build makes the index of lists. Equal lists have equal indexes.
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
				b.addName(len(x.entries), n, e.Schema, mode)
			}
		}
		for _, id := range e.Identifiers {
			if hash := identifierHash(id.Value); hash != 0 {
				x.identifiers = append(x.identifiers, identifierPost{hash: hash, entry: uint32(len(x.entries))})
			}
		}
		fact, _ := json.Marshal(e) // an entry always has a JSON form
		digest.Write(append(fact, '\n'))
		x.entries = append(x.entries, uint32(len(x.facts)))
		x.facts = append(x.facts, fact...)
	}
	b.info.Version = hex.EncodeToString(digest.Sum(nil))
	x.Lists = append(x.Lists, b.info)
}

// addName adds a name of an entry, unless it cannot match or folds to a name that the entry has already.
func (b *builder) addName(entry int, n watchlist.Name, schema watchlist.Schema, mode names.Mode) {
	x := b.index
	analyzed := b.analyzer.Analyze(n.Text)
	if !analyzed.CanMatch(schema) || len(x.names) == maxNames {
		b.info.Unmatchable++
		return
	}
	f := analyzed.comparableForm(mode)
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

// nameIdentity is equal for names with the same matches.
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

// id returns the number of a word, which it adds if it is new.
func (b *builder) id(w *names.Word, use wordUse) uint32 {
	id, found := b.ids[w.Identity()]
	if !found {
		id = uint32(len(b.index.words))
		b.ids[w.Identity()] = id
		b.index.words = append(b.index.words, *w)
		b.index.sketches = append(b.index.sketches, w.Sketch())
	}
	if use == usedAlone {
		b.index.words[id] = *w // a join knows less about itself
	}
	b.index.sketches[id] |= use
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
	words, sketches, places := slices.Clone(x.words), slices.Clone(x.sketches), make([]uint32, len(order))
	for place, i := range order {
		x.words[place], x.sketches[place], places[i] = words[i], sketches[i], uint32(place)
	}
	for i, w := range x.nameWords {
		x.nameWords[i] = places[w]
	}
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
		if keys = w.AppendJoinKeys(keys[:0]); x.sketches[i]&usedAlone != 0 {
			keys = w.AppendKeys(keys)
		}
		for _, key := range keys {
			pairs = append(pairs, keyed{key, uint32(i)})
		}
	}
	slices.SortFunc(pairs, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.word, b.word))
	})
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
