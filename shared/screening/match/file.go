package match

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// The file of an index: fileMagic and the version of the format, the SHA-256 of everything that follows, the number of
// sections, the length of each in bytes, and the sections, each beginning at a multiple of fileAlignment. Numbers are
// little-endian. Sections are the arrays of the index in their form in memory.
const (
	fileAlignment = 64
	fileSections  = 15
	// sumStart is the place of the checksum, fileStart the place of the first byte that it covers.
	sumStart  = len(fileMagic) + versionSize
	fileStart = sumStart + sha256.Size
)

// sections returns the arrays of the index as bytes, in the order of the file. Setting them is reading the file.
func (x *Index) sections(lists *[]byte) [fileSections]section {
	return [fileSections]section{
		bytesOf(lists), bytesOf(&x.words), bytesOf(&x.infos), bytesOf(&x.sketches), bytesOf(&x.keyStarts),
		bytesOf(&x.keyWords), bytesOf(&x.keyBits), bytesOf(&x.postStarts), bytesOf(&x.posts), bytesOf(&x.names),
		bytesOf(&x.nameWords), bytesOf(&x.texts), bytesOf(&x.entries), bytesOf(&x.facts), bytesOf(&x.identifiers),
	}
}

// section is an array of an index.
type section struct {
	bytes func() []byte
	set   func([]byte) error
}

func bytesOf[T any](s *[]T) section {
	size := int(unsafe.Sizeof(*new(T)))
	return section{
		bytes: func() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*s))), len(*s)*size) },
		set: func(b []byte) error {
			if len(b)%size != 0 {
				return ErrNotIndex
			}
			*s = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size)
			return nil
		},
	}
}

// WriteTo writes the index as a file. Equal lists give equal bytes.
func (x *Index) WriteTo(w io.Writer) (int64, error) {
	lists, err := json.Marshal(x.Lists)
	if err != nil {
		return 0, err
	}
	sections := x.sections(&lists)
	var body bytes.Buffer
	header := binary.LittleEndian.AppendUint64(nil, fileSections)
	for _, s := range sections {
		header = binary.LittleEndian.AppendUint64(header, uint64(len(s.bytes())))
	}
	body.Write(header)
	for _, s := range sections {
		body.Write(make([]byte, padding(fileStart+body.Len())))
		body.Write(s.bytes())
	}
	sum, version := sha256.Sum256(body.Bytes()), fileVersion()
	n, err := w.Write(slices.Concat([]byte(fileMagic), version[:], sum[:]))
	if err != nil {
		return int64(n), err
	}
	m, err := w.Write(body.Bytes())
	return int64(n + m), err
}

// padding returns the bytes up to the next multiple of fileAlignment.
func padding(offset int) int { return (fileAlignment - offset%fileAlignment) % fileAlignment }

// Open maps the file of an index into memory. The index is valid until Close.
func Open(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return OpenFile(f)
}

// OpenFile is Open for an open file, which may be closed and removed once OpenFile has returned.
func OpenFile(f *os.File) (*Index, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, unmap, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", f.Name(), err)
	}
	x, err := Load(data)
	if err != nil {
		unmap()
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	x.unmap = unmap
	return x, nil
}

// Close releases the memory of an opened index, which must not be used any more.
func (x *Index) Close() error {
	if x.unmap == nil {
		return nil
	}
	unmap := x.unmap
	x.unmap = nil
	return unmap()
}

// Load makes an index of the bytes of its file, which it keeps. They must begin at a multiple of 8, as allocations of
// this size and mappings do. The error is ErrOtherFormat if another version of this program wrote the file, ErrNotIndex
// if none did or it is damaged.
func Load(data []byte) (*Index, error) {
	const tableSize = 8 * (fileSections + 1)
	if len(data) < fileStart+tableSize || string(data[:len(fileMagic)]) != fileMagic || !isLittleEndian() {
		return nil, ErrNotIndex
	}
	if version := fileVersion(); !bytes.Equal(data[len(fileMagic):sumStart], version[:]) {
		return nil, ErrOtherFormat
	}
	if sum := sha256.Sum256(data[fileStart:]); !bytes.Equal(sum[:], data[sumStart:fileStart]) {
		return nil, ErrNotIndex
	}
	x := &Index{}
	var lists []byte
	offset := fileStart + tableSize
	for i, s := range x.sections(&lists) {
		length := binary.LittleEndian.Uint64(data[fileStart+8*(i+1):])
		offset += padding(offset)
		if length > uint64(len(data)) || offset+int(length) > len(data) {
			return nil, ErrNotIndex
		}
		if err := s.set(data[offset : offset+int(length) : offset+int(length)]); err != nil {
			return nil, err
		}
		offset += int(length)
	}
	if err := json.Unmarshal(lists, &x.Lists); err != nil {
		return nil, ErrNotIndex
	}
	return x, x.check()
}

// check compares the sizes of the arrays.
func (x *Index) check() error {
	n := len(x.words)
	x.shift = 64
	for 1<<(64-x.shift)+1 < len(x.keyStarts) {
		x.shift--
	}
	isWhole := len(x.infos) == n && len(x.sketches) == n && len(x.postStarts) == postRanges*n+1 &&
		len(x.keyStarts) == 1<<(64-x.shift)+1 &&
		len(x.keyBits) == max(1<<(64-x.shift+keyBitsPerBucket)/64, 1) && len(x.entries) > 0 &&
		int(x.postStarts[postRanges*n]) == len(x.posts) && int(x.keyStarts[len(x.keyStarts)-1]) == len(x.keyWords)
	if !isWhole {
		return ErrNotIndex
	}
	return nil
}

// isLittleEndian reports whether this machine has the byte order of the file.
func isLittleEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}

// fileMagic begins the file of an index. The version of its format follows.
const (
	fileMagic   = "SLUICEIDX"
	versionSize = 8
)

// fileVersion is the version of the format of index files. It changes by itself with everything that an index and the
// queries must agree on: the layout of the stored arrays, the tables of package names, the analysis of the words in
// them, and the index of formatCorpus.
var fileVersion = sync.OnceValue(func() [versionSize]byte {
	digest := sha256.New()
	io.WriteString(digest, layout(reflect.TypeFor[Index]()))
	binary.Write(digest, binary.LittleEndian, names.Digest())
	digestCorpus(digest)
	return [versionSize]byte(digest.Sum(nil))
})

// FileFormat names the file format of this program, which opens no files of another one.
func FileFormat() string {
	version := fileVersion()
	return hex.EncodeToString(version[:])
}

var (
	// ErrNotIndex is the error of a file that is not an index, or a damaged one.
	ErrNotIndex = errors.New("the file is not an index, or it is damaged")
	// ErrOtherFormat is the error of an index with the format of another version of this program.
	ErrOtherFormat = errors.New("the index was made by another version of this program: import the list again")
)

// layout describes the stored form of an index's arrays.
func layout(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		var b strings.Builder
		fmt.Fprintf(&b, "%s %d {", t.Name(), t.Size())
		for i := range t.NumField() {
			f := t.Field(i)
			fmt.Fprintf(&b, "%s %d %s;", f.Name, f.Offset, layout(f.Type))
		}
		return b.String() + "}"
	case reflect.Slice:
		return "[]" + layout(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), layout(t.Elem()))
	}
	return t.Kind().String()
}

// digestCorpus writes the index of formatCorpus.
func digestCorpus(w io.Writer) {
	list := &watchlist.List{}
	for i, text := range formatCorpus {
		list.Entries = append(list.Entries, watchlist.Entry{
			ID: fmt.Sprint(i), Names: []watchlist.Name{{Text: text, Kind: watchlist.NameKind(i % 2)}},
			Identifiers: []watchlist.Identifier{{Value: text}},
		})
	}
	var lists []byte
	for _, s := range Build(Source{List: list}).sections(&lists) {
		w.Write(s.bytes())
	}
}

// formatCorpus are names of many kinds and scripts, invented or common.
var formatCorpus = []string{
	"Anatoly Borisovich Velkanov", "Анатолий Борисович Велканов", "VELKANOV, Anatoly",
	"Abdul Rahman Yusuf al-Mazruqi", "عبد الرحمن يوسف المزروقي", "عبدالله بن محمد", "Salahuddin Ibn Hassan",
	"יוסף כהן", "Γεώργιος Παπαδόπουλος", "გიორგი მაისურაძე", "Արամ Խաչատրյան", "अनिल कुमार शर्मा",
	"রহিম উদ্দিন", "박명준", "Pak Myong-jun", "やまだ たろう", "ヤマダ タロウ", "王小明", "สมชาย ใจดี", "Nguyễn Văn An",
	"Jean-Baptiste Mukandoli", "Łukasz Żółtowski", "Jürgen Groß", "O'Brien, Seán", "J. R. R. van der Berg",
	"Mc Donald", "Harborline Shipping & Trading Co. Ltd.", "Vektor Steel Factory OOO", "ООО «Сталь Вектор»",
	"Open Joint Stock Company Bank Sever 24", "Sociedad Inventada de Minerales S.A.", "H4rborl1ne",
	"L.X.C. Holding GmbH", "Third Fund VII", "Маdinа", "ﻣﺤﻤﺪ", "Kim Il", "Ahmad Ahmad bin Ahmad",
	"Sergey Tchaikovsky", "Dzhokhar Khrushchev",
}
