package match

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

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
