package olm

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
	"github.com/example-inc/memcached-operator/scripts/release/check"
	"github.com/example-inc/memcached-operator/scripts/release/operatorhub"
)

const (
	folderRule   = "folders are package and version"
	ciRule       = "ci.yaml is as the pipelines read it"
	repoRule     = "the version that is replaced is in the repository"
	graphRule    = "the operator's versions are replaced, one by the next"
	squareRule   = "the icon is square"
	emptyPicture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 32"/>`
)

var brokenSubmissions = map[string]struct {
	rule string
	edit func(*check.Submission)
	want string // in the problem's message
}{
	"a folder of another version": {
		folderRule, func(s *check.Submission) { s.Version = "v0.1.0" }, `the folder is "v0.1.0", spec.version is "0.1.0"`,
	},
	"a folder of another package": {
		folderRule, func(s *check.Submission) { s.Package = "memcached" }, `the folder is "memcached"`,
	},
	"a bundle that is named otherwise": {
		folderRule, inCSV("name: memcached-operator.v0.1.0", "name: memcached.v0.1.0"), `want "memcached-operator.v0.1.0"`,
	},
	"a ci.yaml that is no YAML": {
		ciRule, ci("reviewers: ["), "ci.yaml: ",
	},
	"an update graph that the bundles do not follow": {
		ciRule, ci("updateGraph: semver-mode\nreviewers: [a]"), `updateGraph is "semver-mode"`,
	},
	"nobody who reviews": {
		ciRule, ci("updateGraph: replaces-mode\nreviewers: []"), "reviewers is empty",
	},
	"a reviewer who can not be": {
		ciRule, ci("updateGraph: replaces-mode\nreviewers: [a@example.com]"), `"a@example.com" is not the name`,
	},
	"a reviewer who is there twice": {
		ciRule, ci("updateGraph: replaces-mode\nreviewers: [a, a]"), `"a" is there twice`,
	},
	"a catalog that we do not write": {
		ciRule, ci("updateGraph: replaces-mode\nreviewers: [a]\nfbc: {enabled: true}"), "fbc is set",
	},
	"a replaced version that was never submitted": {
		repoRule, func(s *check.Submission) {
			inCSV("  version: 0.1.0", "  version: 0.1.0\n  replaces: memcached-operator.v0.0.9")(s)
			s.Others = []string{"0.0.8"}
		}, `"0.0.9", and there are only [0.0.8]`,
	},
	"an older version that nothing replaces": {
		graphRule, func(s *check.Submission) { s.Others = []string{"0.0.8"} }, "there are [0.0.8]",
	},
	"a wide icon": {
		squareRule, icon("image/svg+xml", emptyPicture), "is 64 wide and 32 high",
	},
	"an icon without an extent": {
		squareRule, icon("image/svg+xml", "<svg/>"), "is 0 wide and 0 high",
	},
	"an icon that is no picture": {
		squareRule, icon("image/png", "text"), "spec.icon: image: unknown format",
	},
}

func inCSV(old, text string) func(*check.Submission) {
	return func(s *check.Submission) {
		if !strings.Contains(s.Bundle[csvFile], old) {
			panic(csvFile + " does not hold " + old)
		}
		s.Bundle[csvFile] = strings.ReplaceAll(s.Bundle[csvFile], old, text)
	}
}

func ci(text string) func(*check.Submission) {
	return func(s *check.Submission) { s.CI = text }
}

func icon(mediaType, picture string) func(*check.Submission) {
	return func(s *check.Submission) {
		before, after, _ := strings.Cut(s.Bundle[csvFile], `base64data: "`)
		_, after, _ = strings.Cut(after, `"`)
		data := base64.StdEncoding.EncodeToString([]byte(picture))
		s.Bundle[csvFile] = before + `base64data: "` + data + `"` +
			strings.Replace(after, "mediatype: image/svg+xml", "mediatype: "+mediaType, 1)
	}
}

func TestASubmissionThatBreaksARuleIsNoticed(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join(root, operatorhub.CI))
	if err != nil {
		t.Fatal(err)
	}
	good := func() check.Submission {
		return check.Submission{Package: bundle.Package, Version: "0.1.0", CI: string(committed), Bundle: firstRelease(t)}
	}
	for _, problem := range check.OperatorHub(good()) {
		t.Errorf("the first release: %s", problem)
	}
	for name, tc := range brokenSubmissions {
		t.Run(name, func(t *testing.T) {
			s := good()
			tc.edit(&s)
			assertBroken(t, check.OperatorHub(s), tc.rule, tc.want)
		})
	}
}

func TestASubmissionOfANextVersionKeepsEveryRule(t *testing.T) {
	s := check.Submission{
		Package: bundle.Package, Version: "0.1.0", Bundle: firstRelease(t), Others: []string{"0.0.8", "0.0.9"},
		CI: "updateGraph: replaces-mode\nreviewers: [somebody, some-body-2]\n",
	}
	inCSV("  version: 0.1.0", "  version: 0.1.0\n  replaces: memcached-operator.v0.0.9")(&s)
	for _, problem := range check.OperatorHub(s) {
		t.Error(problem)
	}
}
