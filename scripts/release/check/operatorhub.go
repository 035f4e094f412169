package check

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"image"
	_ "image/gif"  // Icons may be of these
	_ "image/jpeg" // three formats,
	_ "image/png"  // or SVG.
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/example-inc/memcached-operator/scripts/release/bundle"
)

// Submission is one version of the operator as a pull request brings it to the OperatorHub repositories
// k8s-operatorhub/community-operators and redhat-openshift-ecosystem/community-operators-prod.
type Submission struct {
	Package string // the operator's folder
	Version string // the version's folder
	CI      string // ci.yaml
	Bundle  bundle.Files
	Others  []string // folders of other versions beside it
}

// OperatorHub reports what the repositories' pipelines would refuse or warn of, besides what is wrong with the bundle.
func OperatorHub(s Submission) []Problem {
	v, problem := read(s.Bundle)
	if problem != "" {
		return []Problem{{ruleReadable, problem}}
	}
	return apply(hubRules, &submission{Submission: s, view: v})
}

// OperatorHubRules are the names of the rules for submissions.
func OperatorHubRules() []string { return namesOf(hubRules) }

type submission struct {
	Submission
	*view
}

var hubRules = []rule[*submission]{
	{"folders are package and version", func(s *submission) messages {
		version, named := s.csv.Spec.Version, s.annotations[packageKey]
		return slices.Concat(
			one(s.Version != version, "the folder is %q, spec.version is %q", s.Version, version),
			one(s.Package != named, "the folder is %q, %s is %q", s.Package, packageKey, named),
			one(s.csv.Metadata.Name != s.Package+".v"+s.Version, "metadata.name is %q, want %q", s.csv.Metadata.Name,
				s.Package+".v"+s.Version),
		)
	}},
	{"ci.yaml is as the pipelines read it", ciConfig},
	{"the version that is replaced is in the repository", func(s *submission) messages {
		replaces := strings.TrimPrefix(s.csv.Spec.Replaces, s.Package+".v")
		broken := replaces != "" && len(s.Others) > 0 && !slices.Contains(s.Others, replaces)
		return one(broken, "spec.replaces is %q, and there are only %v: submit that version first", replaces, s.Others)
	}},
	{"the operator's versions are replaced, one by the next", func(s *submission) messages {
		return one(s.csv.Spec.Replaces == "" && len(s.Others) > 0,
			"spec.replaces is empty, and there are %v: without it they are no longer in the update graph", s.Others)
	}},
	{"the icon is square", squareIcon},
}

// userPattern is what GitHub takes as the name of a user.
var userPattern = regexp.MustCompile(`^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$`)

func ciConfig(s *submission) messages {
	var ci struct {
		UpdateGraph string
		Reviewers   []string
		FBC         any
	}
	if err := yaml.Unmarshal([]byte(s.CI), &ci); err != nil {
		return one(true, "ci.yaml: %v", err)
	}
	broken := slices.Concat(
		one(ci.UpdateGraph != "replaces-mode",
			"updateGraph is %q, want replaces-mode: each bundle names what it replaces", ci.UpdateGraph),
		one(len(ci.Reviewers) == 0, "reviewers is empty, want GitHub users"),
		one(ci.FBC != nil, "fbc is set: the repository would want catalog templates, and we write none"),
	)
	for i, user := range ci.Reviewers {
		broken.when(!userPattern.MatchString(user), "reviewers: %q is not the name of a GitHub user", user)
		broken.when(slices.Contains(ci.Reviewers[:i], user), "reviewers: %q is there twice", user)
	}
	return broken
}

func squareIcon(s *submission) (broken messages) {
	for _, icon := range s.csv.Spec.Icon {
		data, err := base64.StdEncoding.DecodeString(icon.Base64Data)
		if err != nil {
			continue // Another rule reports it.
		}
		width, height, err := extent(data, icon.MediaType)
		if err != nil {
			broken.when(true, "spec.icon: %v", err)
			continue
		}
		broken.when(width <= 0 || width != height, "spec.icon is %v wide and %v high", width, height)
	}
	return broken
}

func extent(data []byte, mediaType string) (width, height float64, err error) {
	if mediaType != "image/svg+xml" {
		config, _, err := image.DecodeConfig(bytes.NewReader(data))
		return float64(config.Width), float64(config.Height), err
	}
	var svg struct {
		ViewBox string `xml:"viewBox,attr"`
	}
	if err := xml.Unmarshal(data, &svg); err != nil {
		return 0, 0, err
	}
	numbers := strings.Fields(svg.ViewBox)
	if len(numbers) != 4 {
		return 0, 0, nil
	}
	if width, err = strconv.ParseFloat(numbers[2], 64); err != nil {
		return 0, 0, err
	}
	height, err = strconv.ParseFloat(numbers[3], 64)
	return width, height, err
}
