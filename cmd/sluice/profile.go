package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"sluice/client"
	"sluice/internal/command"
)

// defaultProfile is the profile of a command that names none.
const defaultProfile = "default"

// scopePrefix begins the scope of the tokens of a tenant.
const scopePrefix = "tenant/"

// profile is a connection that 'sluice login' has stored: a service, a tenant of it, and a client with its secret. Each
// has a file of its own, which only its owner can read.
type profile struct {
	APIURL       string `json:"api_url"`
	TokenURL     string `json:"token_url"`
	Tenant       string `json:"tenant"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// profilePath returns the file of a profile.
func profilePath(name string) (string, error) {
	if !profileName.MatchString(name) {
		return "", command.Usagef("a profile's name is up to 64 letters, digits, underscores, dots and hyphens, not %q",
			name)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for profiles: %w", err)
	}
	return filepath.Join(dir, "sluice", "profiles", name+".json"), nil
}

// noProfileError is the error for the name of a profile that does not exist. It is fs.ErrNotExist.
type noProfileError string

// Error says how to make the profile.
func (e noProfileError) Error() string {
	return fmt.Sprintf("there is no profile %s; 'sluice login --profile %s' makes it", string(e), string(e))
}

// Is reports that the error is fs.ErrNotExist.
func (e noProfileError) Is(target error) bool { return target == fs.ErrNotExist }

// readProfile reads a profile. If there is none of this name, the error is fs.ErrNotExist. A file that others can read
// is refused, as it holds a secret.
func readProfile(name string) (profile, error) {
	path, err := profilePath(name)
	if err != nil {
		return profile{}, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return profile{}, noProfileError(name)
	}
	if err != nil {
		return profile{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return profile{}, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return profile{}, fmt.Errorf("others can reach the secret in %s; run: chmod 600 '%s'", path, path)
	}
	var p profile
	if err := json.NewDecoder(file).Decode(&p); err != nil {
		// The decoder's message could show a part of the secret.
		return profile{}, fmt.Errorf("%s is damaged; 'sluice login --profile %s' writes it again", path, name)
	}
	return p, nil
}

// store writes the profile, with mode 0600, in place of an earlier one of the same name, and returns its path.
func (p profile) store(name string) (string, error) {
	path, err := profilePath(name)
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".new-") // with mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name()) // it has another name by then if all went well
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(file.Name(), path)
}

// complete fills in what a connection leaves open. The secret of a profile is for its own client and service only: if
// flags or environment name another one, they must give the secret, too.
func (p profile) complete(config *client.Config, name string) error {
	if config.APIURL == "" || config.APIURL == p.APIURL { // otherwise the token URL is that of the given address
		setDefault(&config.TokenURL, p.TokenURL)
	}
	setDefault(&config.APIURL, p.APIURL)
	setDefault(&config.TokenURL, tokenURLOf(config.APIURL))
	setDefault(&config.ClientID, p.ClientID)
	setDefault(&config.Scope, scopePrefix+p.Tenant)
	isOwn := config.APIURL == p.APIURL && config.TokenURL == p.TokenURL && config.ClientID == p.ClientID
	if config.ClientSecret == "" && !isOwn {
		return fmt.Errorf("flags or environment name another service or client than profile %s, whose secret is not "+
			"sent to it; give the secret (--client-secret-file) or leave them out", name)
	}
	setDefault(&config.ClientSecret, p.ClientSecret)
	return nil
}

// tenantOf returns the tenant of a scope.
func tenantOf(scope string) string { return strings.TrimPrefix(scope, scopePrefix) }
