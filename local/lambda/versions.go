package lambda

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Versions keeps the programs of functions as they were when they were published, so that a version runs the same
// program after the next build. One process uses a folder at a time.
type Versions struct{ dir string }

// NewVersions returns the versions in a folder, which need not exist.
func NewVersions(dir string) *Versions { return &Versions{dir} }

// Publish returns the number of the version with a program. It publishes a new one unless the newest version of the
// function has the same program.
func (v *Versions) Publish(function, program string) (number string, err error) {
	if _, err := os.Stat(program); err != nil {
		return "", err
	}
	last, err := v.last(function)
	if err != nil {
		return "", err
	}
	if last > 0 {
		path := v.path(function, last)
		same, err := isSameFile(path, program)
		if errors.Is(err, fs.ErrNotExist) { // it was a link to a program elsewhere
			err = replaceFile(path, program)
			same = true
		}
		if same || err != nil {
			return strconv.Itoa(last), err
		}
		if same, err := haveSameContent(path, program); err != nil {
			return "", err
		} else if same { // built again: next time they will be the same file
			return strconv.Itoa(last), replaceFile(path, program)
		}
	}
	if err := os.MkdirAll(filepath.Join(v.dir, function), 0o700); err != nil {
		return "", err
	}
	return strconv.Itoa(last + 1), replaceFile(v.path(function, last+1), program)
}

// Programs returns the paths of the programs of a function by the numbers of its versions.
func (v *Versions) Programs(function string) (map[string]string, error) {
	numbers, err := v.numbers(function)
	out := map[string]string{}
	for _, n := range numbers {
		out[strconv.Itoa(n)] = v.path(function, n)
	}
	return out, err
}

// Prune deletes all versions but the newest of each function and those that are needed.
func (v *Versions) Prune(isNeeded func(function, number string) bool) error {
	folders, err := os.ReadDir(v.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, folder := range folders {
		function := folder.Name()
		numbers, err := v.numbers(function)
		if err != nil {
			return err
		}
		for _, n := range numbers[:max(len(numbers)-1, 0)] {
			if isNeeded(function, strconv.Itoa(n)) {
				continue
			}
			if err := os.Remove(v.path(function, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *Versions) path(function string, number int) string {
	return filepath.Join(v.dir, function, strconv.Itoa(number))
}

// last returns the number of the newest version of a function, 0 if there is none.
func (v *Versions) last(function string) (int, error) {
	numbers, err := v.numbers(function)
	if len(numbers) == 0 {
		return 0, err
	}
	return numbers[len(numbers)-1], err
}

// numbers returns the numbers of the versions of a function, in order.
func (v *Versions) numbers(function string) ([]int, error) {
	files, err := os.ReadDir(filepath.Join(v.dir, function))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []int
	for _, f := range files {
		if n, err := strconv.Atoi(f.Name()); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, err
}

// isSameFile reports whether a version is a link to a program.
func isSameFile(version, program string) (bool, error) {
	one, err := os.Stat(version)
	if err != nil {
		return false, err
	}
	other, err := os.Stat(program)
	return err == nil && os.SameFile(one, other), err
}

// replaceFile makes path a hard link to a program, which outlives the next build, because that writes a new file. On
// another file system than the program's it makes a symbolic link, whose program is always the newest: copies of all
// programs would cost each start more than everything else.
func replaceFile(path, program string) error {
	temporary := path + ".tmp"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(program, temporary) != nil {
		if err := os.Symlink(program, temporary); err != nil {
			return err
		}
	}
	return os.Rename(temporary, path)
}

// haveSameContent compares two files.
func haveSameContent(a, b string) (bool, error) {
	one, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer one.Close()
	other, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer other.Close()
	left, right := make([]byte, 1<<18), make([]byte, 1<<18)
	for {
		n, err := io.ReadFull(one, left)
		m, otherErr := io.ReadFull(other, right)
		if !bytes.Equal(left[:n], right[:m]) {
			return false, nil
		}
		switch {
		case isEnd(err) && isEnd(otherErr):
			return true, nil
		case err != nil && !isEnd(err):
			return false, err
		case otherErr != nil && !isEnd(otherErr):
			return false, otherErr
		}
	}
}

// isEnd reports whether io.ReadFull has met the end of a file.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
