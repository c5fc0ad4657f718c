package scanner

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/ingest/transaction"
)

// describe returns, as text, the part of the result of Line that Identify must return too.
func describe(r *transaction.Result) string {
	if r.Blank {
		return "blank"
	}
	return fmt.Sprintf("transaction %q, modification %q, main entity %q", r.TransactionExternalID, r.ModificationID,
		r.MainEntity.Name())
}

func describeIdentity(id transaction.Identity) string {
	return describe(&transaction.Result{
		Blank: id.Blank, TransactionExternalID: id.TransactionExternalID, ModificationID: id.ModificationID,
		MainEntity: id.MainEntity,
	})
}

// identifyDiff returns whether Line accepts a line, which it does if it makes no finding, and how Identify disagrees
// with Line about an accepted line, or "". For all other lines it only calls Identify, which must not panic.
func identifyDiff(s *Scanner, line []byte) (accepted bool, diff string) {
	r := s.Line(line)
	accepted = len(r.Findings) == 0
	want := describe(r)
	copied := describeIdentity(s.Identify(bytes.Clone(line)))
	placed := describeIdentity(s.Identify(inPlace(line)))
	if accepted && (copied != want || placed != want) {
		const format = "%q\nLine:                    %s\nIdentify, line copied:   %s\nIdentify, line in place: %s"
		return true, fmt.Sprintf(format, line, want, copied, placed)
	}
	return accepted, ""
}

func TestIdentifyMutations(t *testing.T) {
	rules := comparedRules()
	scanners := []*Scanner{New(rules[0]), New(rules[1])}
	accepted, roles := 0, make(map[transaction.Role]int)
	for n := range *mutations {
		rng := rand.New(rand.NewPCG(*mutationSeed, uint64(n)))
		var line []byte
		switch n % 4 {
		case 0:
			line = mutatedLine(rng)
		case 1:
			line = rewrittenLine(rng, mutatedLine(rng))
		default:
			line = rewrittenLine(rng, []byte(corpus[rng.IntN(3)]))
		}
		for _, s := range scanners {
			ok, diff := identifyDiff(s, line)
			if diff != "" {
				t.Fatalf("mutation %d: %s", n, diff)
			}
			if ok {
				accepted++
				roles[s.Identify(line).MainEntity]++
			}
		}
	}
	t.Logf("%d of %d lines were accepted; main entities: %v", accepted, 2**mutations, roles)
	if *mutations >= 20000 && (accepted < 10000 || roles[transaction.Sender] < 2000 ||
		roles[transaction.Receiver] < 2000) {
		t.Error("too few mutated lines are accepted: the comparison proves little")
	}
}

func FuzzIdentify(f *testing.F) {
	for n, line := range corpus {
		f.Add([]byte(line))
		f.Add(rewrittenLine(rand.New(rand.NewPCG(1, uint64(n))), []byte(line)))
	}
	for _, c := range brokenLines {
		f.Add([]byte(c.line))
	}
	for _, c := range faults {
		f.Add([]byte(lineWith(f, c.old, c.new)))
	}
	rules := comparedRules()
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, r := range rules {
			if _, diff := identifyDiff(New(r), line); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// Identify does not panic on lines that are cut off or have a byte replaced, and is right if they are still accepted.
func TestIdentifyDamagedLines(t *testing.T) {
	s := New(defaultRules())
	for _, line := range corpus {
		for i := range len(line) {
			damaged := []string{line[:i]}
			for _, c := range []byte("\"\\{}[],:n \n\x00\xff") {
				damaged = append(damaged, line[:i]+string([]byte{c})+line[i+1:])
			}
			for _, text := range damaged {
				if _, diff := identifyDiff(s, []byte(text)); diff != "" {
					t.Fatal(diff)
				}
			}
		}
	}
}

func TestIdentifyDoesNotAllocate(t *testing.T) {
	s := New(defaultRules())
	for _, line := range corpus[:3] {
		text := inPlace([]byte(line))
		if n := testing.AllocsPerRun(5, func() { s.Identify(text) }); n > 0 {
			t.Errorf("got %v allocations, want none: %s", n, line)
		}
	}
}

// rewrittenLine is a line with the same meaning: members in another order, other white space, characters written as
// escapes, nulls and unknown members added where they are allowed. A line that is not JSON is returned as it is.
func rewrittenLine(rng *rand.Rand, line []byte) []byte {
	r := &reader{dec: jsontext.NewDecoder(bytes.NewReader(line)), line: line, ids: map[string]string{},
		idAt: map[string]int{}}
	tok, at, ok := r.token()
	if !ok {
		return line
	}
	root, ok := r.value(tok, at, "")
	if !ok {
		return line
	}
	w := rewriter{rng: rng, isSpaced: rng.IntN(3) == 0, isEscaped: rng.IntN(3) == 0}
	w.write(root)
	w.space()
	return w.out
}

type rewriter struct {
	rng       *rand.Rand
	isSpaced  bool
	isEscaped bool
	out       []byte
}

func (w *rewriter) space() {
	if w.isSpaced {
		w.out = append(w.out, []string{"", "", " ", "\t", " \r "}[w.rng.IntN(5)]...)
	}
}

func (w *rewriter) write(n node) {
	w.space()
	switch n.kind {
	case '{':
		w.out = append(w.out, '{')
		for k, at := range w.rng.Perm(len(n.members)) {
			if k > 0 {
				w.out = append(w.out, ',')
			}
			w.space()
			w.string(n.members[at].name)
			w.space()
			w.out = append(w.out, ':')
			w.write(n.members[at].value)
			w.space()
		}
		w.addMember(n)
		w.out = append(w.out, '}')
	case '[':
		w.out = append(w.out, '[')
		for k, item := range n.items {
			if k > 0 {
				w.out = append(w.out, ',')
			}
			w.write(item)
			w.space()
		}
		w.out = append(w.out, ']')
	case '"':
		w.string(n.text)
	case '0':
		w.out = append(w.out, n.text...)
	default:
		w.out = append(w.out, map[jsontext.Kind]string{'n': "null", 't': "true", 'f': "false"}[n.kind]...)
	}
}

// addMember adds a member that an open object ignores, or a field that is null.
func (w *rewriter) addMember(n node) {
	if len(n.members) == 0 || w.rng.IntN(3) > 0 {
		return
	}
	extra := `"zz":{"external_id":"\"}]{[","sender":[{"k":"\\"},"}"]}`
	for name, null := range map[string]string{"modification": "payment_type", "by_external_id": "unknown",
		"external_entity_type": "by_external_id"} {
		_, has := n.member(name)
		if _, already := n.member(null); has && !already {
			extra = `"` + null + `":null`
		}
	}
	for _, m := range n.members {
		if strings.Contains(extra, `"`+m.name+`":null`) || m.name == "zz" {
			return
		}
	}
	w.out = append(append(w.out, ','), extra...)
}

// string writes a string, with some of its characters as escapes.
func (w *rewriter) string(text string) {
	w.out = append(w.out, '"')
	for _, r := range text {
		switch {
		case r < 0x20 || r == '"' || r == '\\' || w.isEscaped && r < 0x10000 && w.rng.IntN(8) == 0:
			w.out = fmt.Appendf(w.out, `\u%04x`, r)
		default:
			w.out = append(w.out, string(r)...)
		}
	}
	w.out = append(w.out, '"')
}
