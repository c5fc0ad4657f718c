package validation

import (
	"bytes"
	"io"
	"unicode/utf8"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/duplicate"
	"sluice/shared/ingest/transaction"
)

// The names of a chunk are a sectioned file with one section for each partition of the digests: the names of the
// unknown entities of its lines, without white space around them, each once with its references, as the index has
// entities.
// There is such a file only for a batch whose names are screened.
const namesMagic = "SLN1"

// MaxScreenedBytes is how many bytes of a name a Screener reads, at most.
const MaxScreenedBytes = 4096

// maxNameBytes is the length of the longest name that is kept. It is more than a Screener reads, which can thus tell
// that the name was too long.
const maxNameBytes = MaxScreenedBytes + utf8.UTFMax

// screenedName returns the part of a name that is screened: it is distinct from another one if this part is. It is
// empty if there is nothing to screen.
func screenedName(fullName []byte) []byte {
	name := bytes.TrimSpace(fullName)
	if len(name) <= maxNameBytes {
		return name
	}
	end := maxNameBytes
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// namesWriter collects the names of one chunk, and keeps its memory for the next.
type namesWriter struct {
	key      duplicate.Key
	names    uses
	sections sectionWriter
}

// reset starts the names of a chunk.
func (n *namesWriter) reset(digestKey [16]byte) {
	n.key = duplicate.NewKey(digestKey)
	n.names.reset()
}

// addLine adds the names of a line, which starts at an offset of the chunk. Lines must be added in order.
func (n *namesWriter) addLine(line *chunk.Line, offset int64, res *transaction.Result) {
	for i := range res.Names {
		found := &res.Names[i]
		if name := screenedName(found.FullName); len(name) > 0 {
			n.names.add(n.key.Digest(name), name, line.Number, offset+int64(found.Offset), found.Role)
		}
	}
}

// writeTo writes the names and returns their length, which is 0 if there are none.
func (n *namesWriter) writeTo(w io.Writer) (int64, error) {
	names := n.names.group()
	return n.sections.write(w, namesMagic, Partitions, func(p int, b []byte) []byte {
		if len(names.partitions.group(p)) == 0 {
			return b
		}
		return names.appendPartition(b, p)
	})
}
