package watchlist

import (
	"io"
	"io/fs"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// texts is the source of a list whose files are given by the names of companions.
func texts(files map[string]string) Source {
	return func(companion string) (io.ReadCloser, error) {
		text, found := files[companion]
		if !found {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

const unSample = `<?xml version="1.0"?>
<CONSOLIDATED_LIST dateGenerated="2026-02-27T00:00:09.554Z"><INDIVIDUALS><INDIVIDUAL><DATAID>1</DATAID>
<FIRST_NAME>ANATOLY</FIRST_NAME><SECOND_NAME>VELKANOV</SECOND_NAME><NAME_ORIGINAL_SCRIPT>Анатолий</NAME_ORIGINAL_SCRIPT>
<NATIONALITY><VALUE>Russian Federation</VALUE></NATIONALITY>
<INDIVIDUAL_ALIAS><QUALITY>Low</QUALITY><ALIAS_NAME>Tolya</ALIAS_NAME></INDIVIDUAL_ALIAS>
<INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>BETWEEN</TYPE_OF_DATE>
<FROM_YEAR>1957</FROM_YEAR><TO_YEAR>1959</TO_YEAR></INDIVIDUAL_DATE_OF_BIRTH>
</INDIVIDUAL></INDIVIDUALS>
<ENTITIES><ENTITY><DATAID/><FIRST_NAME>NO ID</FIRST_NAME></ENTITY></ENTITIES></CONSOLIDATED_LIST>`

const sdnSample = "7,\"VELKANOV, Anatoly\",\"individual\",\"X] [Y\",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,\"DOB 14 Mar " +
	"1958; a.k.a. 'TOLYA'; Passport AB1234567 (Russia); Gender Male; na\"\r\nbroken\r\n\x1a"

func TestReadUN(t *testing.T) {
	list := errtest.Must(Read(UNXML, texts(map[string]string{"": unSample})))(t)
	if len(list.Entries) != 1 || list.ProblemCount != 1 || list.SourceDate.Year() != 2026 {
		t.Fatalf("read %d entries and %d problems of %v, want 1 and 1 of 2026", len(list.Entries), list.ProblemCount,
			list.SourceDate)
	}
	e := list.Entries[0]
	if e.ID != "1" || e.Schema != Person || len(e.Names) != 3 || e.Names[2].Kind != Weak || len(e.BirthDates) != 3 ||
		e.Countries[0] != "ru" {
		t.Errorf("read %+v", e)
	}
}

func TestReadOFAC(t *testing.T) {
	list := errtest.Must(Read(OFACSDNCSV, texts(map[string]string{
		"": sdnSample, companionAlt: "7,1,\"fka\",\"VELKANOFF\",-0- \n8,2,\"aka\",\"NOBODY\",-0- \n",
		companionAdd: "7,1,-0- ,\"Moscow\",\"Russia\",-0- \n", companionComments: "7,\"tionality Russia\"\n",
	})))(t)
	if len(list.Entries) != 1 || list.ProblemCount != 2 {
		t.Fatalf("read %d entries and the problems %v, want 1 and 2", len(list.Entries), list.Problems)
	}
	e := list.Entries[0]
	if e.Schema != Person || len(e.Names) != 3 || e.BirthDates[0] != "1958-03-14" || e.Gender != "male" ||
		len(e.Countries) != 1 || e.Identifiers[0] != (Identifier{Type: "Passport", Value: "AB1234567",
		Country: "ru"}) || len(e.Programs) != 2 {
		t.Errorf("read %+v", e)
	}
}

func TestReadFTM(t *testing.T) {
	list := errtest.Must(Read(FTMJSON, texts(map[string]string{"": `{"id":"a","schema":"Person","caption":"A ` +
		`B","properties":{"name":["A B","C D"],"weakAlias":["X"],"birthDate":["1961"],"nationality":["ru"],` +
		`"taxNumber":["123456"]}}` + "\n{\n" +
		`{"id":"b","schema":"Address","properties":{}}`})))(t)
	if len(list.Entries) != 1 || list.ProblemCount != 1 || len(list.Entries[0].Names) != 3 {
		t.Errorf("read %+v", list)
	}
}

func TestReadTargets(t *testing.T) {
	list := errtest.Must(Read(TargetsSimpleCSV, FileSource("../../../sampledata/watchlist.csv")))(t)
	difftest.Equal(t, "read", []any{16, 0}, []any{len(list.Entries), list.ProblemCount})
}

func TestReadRefuses(t *testing.T) {
	for format, text := range map[Format]string{
		UNXML: "<x/>", OFACSDNCSV: "a\n", FTMJSON: "nothing\n", TargetsSimpleCSV: "a,b\n1,2\n", "other": "",
	} {
		t.Run(string(format), func(t *testing.T) {
			errtest.Fails(t, "read", errtest.Of(Read(format, texts(map[string]string{"": text}))))
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(unSample)
	f.Add(sdnSample)
	f.Add(`{"id":"a","schema":"Person","properties":{"name":["A B"]}}`)
	f.Add("id,schema,name\n1,Person,\"A B\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range Formats {
			files := map[string]string{"": text, companionAlt: text, companionAdd: text, companionComments: text}
			list, err := Read(format, texts(files))
			if err != nil {
				continue
			}
			for _, e := range list.Entries {
				if e.ID == "" || len(e.Names) == 0 || e.Names[0].Text == "" {
					t.Errorf("%s: read the entry %+v", format, e)
				}
			}
		}
	})
}

// A country is recognised by its codes and its names in English, in any case. Each alpha-2 code has an alpha-3 code,
// and no code stands for two countries.
func TestParseCountry(t *testing.T) {
	for text, want := range map[string]string{"ru": "ru", " RUS ": "ru", "Russia": "ru", "gb": "gb", "UK": "gb",
		"GBR": "gb", "USA": "us", "uae": "ae", "ARE": "ae", "xkx": "xk", "ANT": "an"} {
		if got, isKnown := ParseCountry(text); got != want || !isKnown {
			t.Errorf("%q is %q, known: %t; want %q", text, got, isKnown, want)
		}
	}
	for _, text := range []string{"", "XXX", "RUSS", "Narnia", "ZZ"} {
		if got, isKnown := ParseCountry(text); got != strings.ToLower(text) || isKnown {
			t.Errorf("%q is %q, known: %t; want it unknown", text, got, isKnown)
		}
	}
	countries, seen := map[string]bool{}, map[string]bool{}
	for _, pair := range strings.Fields(alpha3Codes) {
		alpha3, code, _ := strings.Cut(pair, ":")
		if len(alpha3) != 3 || !knownCodes[code] || seen[alpha3] || knownCodes[alpha3] {
			t.Errorf("the pair %s is not one of a code of three letters and a known one of two", pair)
		}
		countries[code], seen[alpha3] = true, true
	}
	for code := range knownCodes {
		if !countries[code] {
			t.Errorf("%s has no code of three letters", code)
		}
	}
}
