package dynamotest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/errtest"
)

var update = flag.Bool("update", false, "write the golden files of stored items instead of comparing with them")

// A storedItem is an item as golden files show it: the name of each attribute, and its value below the name of its
// type, as in DynamoDB's own JSON. Binary values are base64, as there; attributes that hold a JSON object are shown as
// "S, JSON" or "B, JSON".
type storedItem map[string]any

// CompareStored compares all items of a table with a golden file, testdata/stored/NAME.json below the package under
// test. A difference means that the stored form has changed, so that rows written before could no longer be read:
// change the code, not the file. With the flag -update it writes the file instead.
func CompareStored(t *testing.T, db *dynamodb.Client, table, name string) {
	t.Helper()
	items := []storedItem{}
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		page := errtest.Must(pages.NextPage(context.Background()))(t)
		for _, item := range page.Items {
			items = append(items, encodeItem(t, item))
		}
	}
	slices.SortFunc(items, func(a, b storedItem) int { return bytes.Compare(encode(t, a), encode(t, b)) })
	got := encode(t, items)
	path := goldenPath(name)
	if *update {
		errtest.Fatal(t, os.MkdirAll(filepath.Dir(path), 0o755))
		errtest.Fatal(t, os.WriteFile(path, got, 0o644))
	}
	want := errtest.Must(os.ReadFile(path))(t)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("the items of %s differ from %s (-golden +stored):\n%s", table, path, diff)
	}
}

// LoadStored puts the items of a golden file into a table, as if an earlier release had written them.
func LoadStored(t *testing.T, db *dynamodb.Client, table, name string) {
	t.Helper()
	text := errtest.Must(os.ReadFile(goldenPath(name)))(t)
	var items []storedItem
	errtest.Fatal(t, json.Unmarshal(text, &items))
	for _, item := range items {
		_, err := db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &table, Item: decodeItem(t, item)})
		errtest.Fatal(t, err)
	}
}

func goldenPath(name string) string {
	return filepath.Join(startDir, "testdata", "stored", name+".json")
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text := errtest.Must(json.MarshalIndent(v, "", "  "))(t)
	return append(text, '\n')
}

func encodeItem(t *testing.T, item map[string]types.AttributeValue) storedItem {
	out := storedItem{}
	for name, value := range item {
		out[name] = encodeValue(t, value)
	}
	return out
}

func encodeValue(t *testing.T, value types.AttributeValue) any {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		if text := []byte(v.Value); isObject(text) {
			return map[string]any{"S, JSON": json.RawMessage(text)}
		}
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		if isObject(v.Value) {
			return map[string]any{"B, JSON": json.RawMessage(v.Value)}
		}
		return map[string]any{"B": v.Value}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberNULL:
		return map[string]any{"NULL": true}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": v.Value}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": encodeItem(t, v.Value)}
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, element := range v.Value {
			list = append(list, encodeValue(t, element))
		}
		return map[string]any{"L": list}
	}
	t.Fatalf("a stored item holds a %T, which golden files cannot show yet", value)
	return nil
}

// isObject reports whether an attribute holds a JSON object, which golden files show as such.
func isObject(text []byte) bool { return bytes.HasPrefix(text, []byte("{")) && json.Valid(text) }

func decodeItem(t *testing.T, item map[string]any) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for name, value := range item {
		out[name] = decodeValue(t, value.(map[string]any))
	}
	return out
}

func decodeValue(t *testing.T, value map[string]any) types.AttributeValue {
	for kind, v := range value {
		switch kind {
		case "S":
			return &types.AttributeValueMemberS{Value: v.(string)}
		case "S, JSON":
			return &types.AttributeValueMemberS{Value: string(encode(t, v))}
		case "B, JSON":
			return &types.AttributeValueMemberB{Value: encode(t, v)}
		case "N":
			return &types.AttributeValueMemberN{Value: v.(string)}
		case "B":
			var b []byte
			errtest.Fatal(t, json.Unmarshal([]byte(`"`+v.(string)+`"`), &b))
			return &types.AttributeValueMemberB{Value: b}
		case "BOOL":
			return &types.AttributeValueMemberBOOL{Value: v.(bool)}
		case "NULL":
			return &types.AttributeValueMemberNULL{Value: true}
		case "SS":
			set := []string{}
			for _, element := range v.([]any) {
				set = append(set, element.(string))
			}
			return &types.AttributeValueMemberSS{Value: set}
		case "M":
			return &types.AttributeValueMemberM{Value: decodeItem(t, v.(map[string]any))}
		case "L":
			list := []types.AttributeValue{}
			for _, element := range v.([]any) {
				list = append(list, decodeValue(t, element.(map[string]any)))
			}
			return &types.AttributeValueMemberL{Value: list}
		}
	}
	t.Fatalf("a golden file holds the unknown value %v", value)
	return nil
}
