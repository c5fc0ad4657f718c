package screening_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/difftest"
	"sluice/shared/screening"
)

// field returns a field of a schema: "id:enabledBy" a Toggle, "id=enabledBy" a TextInput, "!" before it a mandatory
// one.
func field(text string) screening.SettingField {
	f := screening.SettingField{Type: screening.Toggle}
	text, f.IsMandatory = strings.CutPrefix(text, "!")
	if strings.Contains(text, "=") {
		f.Type = screening.TextInput
	}
	f.ID, f.EnabledBy, _ = strings.Cut(strings.Replace(text, "=", ":", 1), ":")
	return f
}

func fieldsOf(texts ...string) []screening.SettingField {
	fields := make([]screening.SettingField, len(texts))
	for i, text := range texts {
		fields[i] = field(text)
	}
	return fields
}

// places says where the problems are: index and property.
func places(problems []screening.SettingProblem) string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, strings.TrimSuffix(fmt.Sprintf("%d.%s", p.Index, p.Property), "."))
	}
	return strings.Join(texts, " ")
}

func TestCheckFields(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fields []string
		want   string
	}{
		"none":                         {nil, ""},
		"independent ones":             {[]string{"a", "b="}, ""},
		"a chain":                      {[]string{"a", "b:a", "c=b"}, ""},
		"a chain in another order":     {[]string{"c=b", "b:a", "a"}, ""},
		"twice the same ID":            {[]string{"a", "a="}, "1.fieldId"},
		"enabled by nothing":           {[]string{"a:b"}, "0.enabledBy"},
		"enabled by a text":            {[]string{"a=", "b:a"}, "1.enabledBy"},
		"enabled by itself":            {[]string{"a:a"}, "0.enabledBy"},
		"a circle of two":              {[]string{"a:b", "b:a"}, "0.enabledBy 1.enabledBy"},
		"a circle of three, one below": {[]string{"a:c", "b:a", "c:b", "d=c"}, "0.enabledBy 1.enabledBy 2.enabledBy"},
	} {
		t.Run(name, func(t *testing.T) {
			difftest.Equal(t, "places", test.want, places(screening.CheckFields(fieldsOf(test.fields...))))
		})
	}
}

func TestCheckSettings(t *testing.T) {
	t.Parallel()
	fields := fieldsOf("on", "text=", "!needed=on", "deep:on", "!deeper=deep")
	long := strings.Repeat("ü", screening.MaxSettingChars)
	for name, test := range map[string]struct {
		settings []string
		want     string
	}{
		"nothing is needed":                        {nil, ""},
		"a toggle that is off":                     {[]string{"on=false"}, ""},
		"a mandatory one is missing":               {[]string{"on=true"}, "-1"},
		"a mandatory one of white space":           {[]string{"on=true", "needed= \t"}, "-1"},
		"a mandatory one is there":                 {[]string{"on=true", "needed=x"}, ""},
		"the toggle above is off":                  {[]string{"deep=true"}, ""},
		"both toggles are on":                      {[]string{"on=true", "needed=x", "deep=true"}, "-1"},
		"both toggles are on, and all is there":    {[]string{"on=true", "needed=x", "deep=true", "deeper=y"}, ""},
		"a value of a setting that does not count": {[]string{"deeper=y"}, ""},
		"an unknown setting":                       {[]string{"other=1"}, "0.fieldId"},
		"a setting twice":                          {[]string{"text=1", "text=2"}, "1.fieldId"},
		"a toggle that is neither":                 {[]string{"on=True"}, "0.value"},
		"an empty toggle":                          {[]string{"on="}, "0.value"},
		"an empty text":                            {[]string{"text="}, ""},
		"the longest text":                         {[]string{"text=" + long}, ""},
		"a text that is too long":                  {[]string{"text=" + long + "x"}, "0.value"},
	} {
		t.Run(name, func(t *testing.T) {
			var settings []screening.Setting
			for _, text := range test.settings {
				id, value, _ := strings.Cut(text, "=")
				settings = append(settings, screening.Setting{FieldID: id, Value: value})
			}
			difftest.Equal(t, "places", test.want, places(screening.CheckSettings(fields, settings)))
		})
	}
}

func TestSearchOfTheBuiltInProvider(t *testing.T) {
	t.Parallel()
	tenant := screening.Settings{ActiveLists: []string{"un", "ofac"}, Threshold: new(float64(85))}
	set := func(threshold, lists string) screening.ConfigurationSet {
		return screening.ConfigurationSet{Settings: []screening.Setting{
			{FieldID: "threshold", Value: threshold}, {FieldID: "lists", Value: lists}}}
	}
	search := func(threshold float64, lists ...string) screening.BuiltInSearch {
		return screening.BuiltInSearch{Lists: lists, Threshold: threshold}
	}
	long := strings.Repeat("x", screening.MaxListName)
	for name, test := range map[string]struct {
		settings screening.Settings
		set      screening.ConfigurationSet
		want     screening.BuiltInSearch
		problems string
	}{
		"nothing is set":      {screening.Settings{}, screening.ConfigurationSet{}, search(80), ""},
		"by the tenant":       {tenant, set("", " "), search(85, "un", "ofac"), ""},
		"by the set":          {tenant, set(" 99.5 ", "eu, un,,eu"), search(99.5, "eu", "un"), ""},
		"at the lowest":       {tenant, set("0", "un"), search(0, "un"), ""},
		"at the highest":      {tenant, set("100", "un"), search(100, "un"), ""},
		"above the highest":   {tenant, set("100.1", "un"), search(85, "un"), "0.value"},
		"below the lowest":    {tenant, set("-0.1", "un"), search(85, "un"), "0.value"},
		"no number":           {tenant, set("NaN", "un"), search(85, "un"), "0.value"},
		"a list's name":       {tenant, set("", long), search(85, long), ""},
		"too long a name":     {tenant, set("", long+"x"), search(85, long+"x"), "1.value"},
		"of no known setting": {tenant, screening.ConfigurationSet{}, search(85, "un", "ofac"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			difftest.Equal(t, "the result", test.want, test.settings.Search(test.set))
			difftest.Equal(t, "problems", test.problems, places(screening.CheckBuiltInSettings(test.set.Settings)))
		})
	}
}

// Masked keys are those that are stored, as long as they are used for the same URL, and no key is printed.
func TestKeepKeys(t *testing.T) {
	t.Parallel()
	const mask = externalauth.Mask
	stored := &screening.Provider{Adapter: &screening.Adapter{URL: "https://Adapter.example.com/a",
		AuthenticationKey: "first", EncryptionKey: "second"}}
	for name, test := range map[string]struct {
		stored                         *screening.Provider
		url                            string
		authentication, encryption     externalauth.Secret
		wantAuthentication, wantSecond string
		missing                        int
	}{
		"both are kept":       {stored, "https://adapter.example.com/a/", mask, mask, "first", "second", 0},
		"one is new":          {stored, "https://adapter.example.com/a", "new", mask, "new", "second", 0},
		"one is dropped":      {stored, "https://adapter.example.com/a", "", mask, "", "second", 0},
		"another URL":         {stored, "https://adapter.example.com/b", mask, mask, "", "", 2},
		"another URL, no key": {stored, "https://adapter.example.com/b", "", "", "", "", 0},
		"a new provider":      {nil, "https://adapter.example.com/a", mask, "new", "", "new", 1},
		"none is stored": {&screening.Provider{Adapter: &screening.Adapter{URL: "https://a.example.com"}},
			"https://a.example.com", mask, "", "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := screening.Provider{Adapter: &screening.Adapter{URL: test.url, AuthenticationKey: test.authentication,
				EncryptionKey: test.encryption}}
			missing := p.RestoreMaskedKeys(test.stored)
			got := [2]string{p.Adapter.AuthenticationKey.Reveal(), p.Adapter.EncryptionKey.Reveal()}
			difftest.Equal(t, "result", []any{[2]string{test.wantAuthentication, test.wantSecond}, test.missing},
				[]any{got, len(missing)})
			if text := fmt.Sprintf("%v %+v %#v", p, p, p); strings.Contains(text, "second") ||
				strings.Contains(text, "first") {
				t.Errorf("a key is printed: %s", text)
			}
		})
	}
}

// All circles of enabledBy are found, as by a walk from each field.
func TestCheckFieldsFindsCircles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		fields := make([]screening.SettingField, 1+random.IntN(6))
		enabler := make([]int, len(fields)) // the place of the field that enables another one; -1 for none
		for i := range fields {
			fields[i] = screening.SettingField{ID: fmt.Sprint(i), Type: screening.Toggle}
			if enabler[i] = random.IntN(len(fields)+1) - 1; enabler[i] >= 0 {
				fields[i].EnabledBy = fmt.Sprint(enabler[i])
			}
		}
		var want []string
		for i := range fields {
			at := enabler[i]
			for steps := 0; at >= 0 && at != i && steps <= len(fields); steps++ {
				at = enabler[at]
			}
			if at == i {
				want = append(want, fmt.Sprintf("%d.enabledBy", i))
			}
		}
		if got := places(screening.CheckFields(fields)); got != strings.Join(want, " ") {
			t.Fatalf("%+v: got %q, want %q", fields, got, want)
		}
	}
}
