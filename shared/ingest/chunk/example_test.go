package chunk_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"sluice/shared/ingest/chunk"
)

// The chunks of a file can be read by different processes. Together they read every line once, although the lines do
// not end where the chunks end.
func ExampleReader() {
	file := "the first line\nthe second line\nthe third line\nthe last line"
	plan := chunk.NewPlan(int64(len(file)), 24)
	for i := range plan.Count() {
		start, end := plan.Range(i)
		fmt.Printf("chunk %d, bytes %d to %d\n", i, start, end)
		r := chunk.NewReader(context.Background(), chunk.NewSource(strings.NewReader(file)), plan, i,
			chunk.Options{MaxLineBytes: 1 << 10})
		for r.Next() {
			line := r.Line()
			fmt.Printf("  line %d at offset %d: %s\n", line.Number, line.Offset, line.Text)
		}
		if err := r.Err(); err != nil {
			log.Fatal(err)
		}
		r.Close()
	}
	// Output:
	// chunk 0, bytes 0 to 24
	//   line 0 at offset 0: the first line
	//   line 1 at offset 15: the second line
	// chunk 1, bytes 24 to 48
	//   line 0 at offset 31: the third line
	//   line 1 at offset 46: the last line
	// chunk 2, bytes 48 to 59
}

// A parser that finds the end of a line by itself gets most lines from Peek, and the others, like the first and the
// last line of a file, from Next.
func ExampleReader_Peek() {
	file := "Oslo 709\nRome 2748\nParis 2048\nBern 137"
	parse := func(text []byte) (city string, length int) {
		length = bytes.IndexByte(text, '\n')
		if length < 0 {
			length = len(text)
		}
		name, _, _ := bytes.Cut(text[:length], []byte(" "))
		return string(name), length
	}

	plan := chunk.NewPlan(int64(len(file)), 0)
	r := chunk.NewReader(context.Background(), chunk.NewSource(strings.NewReader(file)), plan, 0,
		chunk.Options{MaxLineBytes: 1 << 10})
	defer r.Close()
	for {
		if text := r.Peek(); text != nil {
			city, length := parse(text)
			line := r.Consume(length)
			fmt.Println(line.Number, city, "(peeked)")
			continue
		}
		if !r.Next() {
			break
		}
		city, _ := parse(r.Line().Text)
		fmt.Println(r.Line().Number, city)
	}
	if err := r.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 Oslo
	// 1 Rome (peeked)
	// 2 Paris (peeked)
	// 3 Bern
}
