package repotest

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	markdownLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	markdownHeading = regexp.MustCompile(`^#{1,6} +(.+?) *#*$`)
	codeSpan        = regexp.MustCompile("`[^`]*`")
	externalTarget  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

// Every link of a Markdown file to another file or to a heading has a target in the repository.
func TestMarkdownLinksHaveTargets(t *testing.T) {
	files := filesNamed(t, "*.md")
	found := 0
	for _, file := range files {
		for _, target := range linksOf(string(readFile(t, file))) {
			if externalTarget.MatchString(target) {
				continue
			}
			found++
			name, anchor, hasAnchor := strings.Cut(target, "#")
			linked := file
			if name != "" {
				linked = path.Join(path.Dir(file), name)
			}
			if _, err := os.Stat(linked); err != nil {
				t.Errorf("%s links to %s: there is no %s", file, target, linked)
				continue
			}
			if hasAnchor && !slices.Contains(anchorsOf(string(readFile(t, linked))), anchor) {
				t.Errorf("%s links to %s: %s has no heading with the anchor #%s", file, target, linked, anchor)
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d links in %d files, want at least 20", found, len(files))
	}
}

// Every decision record has a row in the index.
func TestDecisionsAreIndexed(t *testing.T) {
	index := linksOf(string(readFile(t, "docs/decisions/README.md")))
	for _, file := range filesNamed(t, "[0-9][0-9][0-9][0-9]-*.md") {
		if path.Dir(file) == "docs/decisions" && !slices.Contains(index, path.Base(file)) {
			t.Errorf("docs/decisions/README.md does not link to %s", path.Base(file))
		}
	}
}

// A code span that is the path of a file or folder of the repository: one of its folders followed by more, or a Go
// file.
var pathSpan = regexp.MustCompile(
	"`((?:bench|client|cmd|docs|e2e|events|functions|internal|local|openapi|sampledata|shared|" +
		`statemachine|tools|\.github)/[a-zA-Z0-9_./-]*|[a-z0-9_/]+\.go)` + "`",
)

// Every file and folder that a Markdown file names as code exists: from the root, beside the Markdown file, or, without
// its folder, anywhere. Names with capital letters are placeholders.
func TestMarkdownNamesExistingFiles(t *testing.T) {
	found := 0
	for _, file := range filesNamed(t, "*.md") {
		for _, line := range proseLines(string(readFile(t, file))) {
			for _, match := range pathSpan.FindAllStringSubmatch(line, -1) {
				name := match[1]
				if strings.ToLower(name) != name && !strings.HasSuffix(name, ".md") {
					continue
				}
				found++
				_, err := os.Stat(name)
				_, errBeside := os.Stat(path.Join(path.Dir(file), name))
				isSomewhere := strings.HasSuffix(name, ".go") && slices.ContainsFunc(repositoryFiles(t),
					func(file string) bool { return strings.HasSuffix(file, "/"+name) })
				if err != nil && errBeside != nil && !isSomewhere {
					t.Errorf("%s names `%s`, which does not exist", file, name)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d paths, want at least 20", found)
	}
}

// A comment cites a page of docs by its path, and a heading of it after a comma: "docs/contract/batch.md, Statuses".
var citation = regexp.MustCompile(`\bdocs/[a-z0-9/_.-]+\.(?:md|json)\b(?:, ("?)([A-Za-z_]))?`)

// Every page and heading of docs that a comment or a message names exists.
func TestCitationsOfDocsExist(t *testing.T) {
	for _, file := range filesNamed(t, "*.go", "*.yaml", "*.asl.json", "Makefile", "*.txtar") {
		text := unwrapComments(string(readFile(t, file)))
		for _, at := range citation.FindAllStringSubmatchIndex(text, -1) {
			page, _, _ := strings.Cut(text[at[0]:at[1]], ",")
			if _, err := os.Stat(page); err != nil {
				t.Errorf("%s cites %s, which does not exist", file, page)
				continue
			}
			if at[4] < 0 || !strings.HasPrefix(page, "docs/contract/") {
				continue
			}
			cited := text[at[4]:min(len(text), at[4]+60)]
			if !slices.ContainsFunc(headingsOf(string(readFile(t, page))), func(h string) bool {
				return strings.HasPrefix(cited, h)
			}) {
				t.Errorf("%s cites %s, %q: the page has no such heading", file, page, cited)
			}
		}
	}
}

func TestAnchorsFollowTheForge(t *testing.T) {
	const page = "# Two words\n## `code`, and: more!\n```\n# no heading\n```\n### Two words\n### snake_case\n"
	want := []string{"two-words", "code-and-more", "two-words-1", "snake_case"}
	if got := anchorsOf(page); !slices.Equal(got, want) {
		t.Errorf("anchors are %q, want %q", got, want)
	}
}

// filesNamed returns the files of the repository whose names match one of the patterns.
func filesNamed(t *testing.T, patterns ...string) []string {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(repositoryFiles(t)), func(name string) bool {
		return !slices.ContainsFunc(patterns, func(pattern string) bool {
			matches, err := path.Match(pattern, path.Base(name))
			return err == nil && matches
		})
	})
}

// linksOf returns the targets of all inline links outside code.
func linksOf(text string) []string {
	var targets []string
	for _, line := range proseLines(text) {
		for _, match := range markdownLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "``"), -1) {
			targets = append(targets, match[1])
		}
	}
	return targets
}

// headingsOf returns the texts of all headings.
func headingsOf(text string) []string {
	var headings []string
	for _, line := range proseLines(text) {
		if match := markdownHeading.FindStringSubmatch(line); match != nil {
			headings = append(headings, match[1])
		}
	}
	return headings
}

// anchorsOf returns the anchors of all headings as forges make them: lower case, hyphens for spaces, no punctuation,
// and a number after the second and later ones of the same text.
func anchorsOf(text string) []string {
	var anchors []string
	seen := map[string]int{}
	for _, heading := range headingsOf(text) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, heading)
		if n := seen[anchor]; n > 0 {
			anchors = append(anchors, anchor+"-"+strconv.Itoa(n))
		} else {
			anchors = append(anchors, anchor)
		}
		seen[anchor]++
	}
	return anchors
}

// proseLines returns the lines of a Markdown text without its fenced code blocks.
func proseLines(text string) []string {
	var lines []string
	isCode := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			isCode = !isCode
		} else if !isCode {
			lines = append(lines, line)
		}
	}
	return lines
}

var commentWrap = regexp.MustCompile(`\n[ \t]*(?://|#) ?`)

// unwrapComments joins the lines of comments, so that a citation may be broken over two.
func unwrapComments(text string) string { return commentWrap.ReplaceAllString(text, " ") }
