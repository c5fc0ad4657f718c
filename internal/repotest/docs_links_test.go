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
	found := 0
	for _, file := range filesNamed(t, "*.md") {
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
			} else if hasAnchor && !slices.Contains(anchorsOf(string(readFile(t, linked))), anchor) {
				t.Errorf("%s links to %s: %s has no heading with the anchor #%s", file, target, linked, anchor)
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d links, want at least 20", found)
	}
}

var (
	// pathSpan matches a code span that is the path of a file or folder: a folder of the repository and more, or a Go
	// file.
	pathSpan = regexp.MustCompile("`((?:bench|client|cmd|docs|e2e|events|functions|internal|local|openapi|sampledata|" +
		`shared|statemachine|tools|\.github)/[a-zA-Z0-9_./-]*|[a-z0-9_/]+\.go)` + "`")
	// citation matches a page of docs that a comment or a message names.
	citation = regexp.MustCompile(`\b(docs/[a-z0-9/_.-]+\.(?:md|json))\b`)
)

// Every file and folder that a Markdown file names as code exists: from the root, beside the Markdown file, or, without
// its folder, anywhere. Names with capital letters are placeholders. So does every page that code names.
func TestNamedFilesExist(t *testing.T) {
	found := 0
	for _, file := range filesNamed(t, "*.md", "*.go", "*.yaml", "*.asl.json", "Makefile", "*.txtar") {
		text, pattern := string(readFile(t, file)), citation
		if strings.HasSuffix(file, ".md") {
			text, pattern = strings.Join(proseLines(text), "\n"), pathSpan
		}
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
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
	if found < 100 {
		t.Errorf("found %d paths, want at least 100", found)
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
		numbered := anchor
		if n := seen[anchor]; n > 0 {
			numbered += "-" + strconv.Itoa(n)
		}
		seen[anchor]++
		anchors = append(anchors, numbered)
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
