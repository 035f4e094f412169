package olm

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/example-inc/memcached-operator/test/olm/scorecard"
)

const scorecardFile = "tests/scorecard/config.yaml"

// scorecardTests are what operator-sdk scorecard would run: the name of each test, by suite.
func scorecardTests(t *testing.T) map[string][]string {
	t.Helper()
	var config struct {
		Stages []struct {
			Tests []struct {
				Entrypoint []string
				Image      string
				Labels     map[string]string
			}
		}
	}
	unmarshal(t, committed(t)[scorecardFile], &config)
	listed := map[string][]string{}
	for _, stage := range config.Stages {
		for _, test := range stage.Tests {
			if len(test.Entrypoint) != 2 || test.Entrypoint[0] != "scorecard-test" ||
				test.Labels["test"] != test.Entrypoint[1]+"-test" ||
				!strings.HasPrefix(test.Image, "quay.io/operator-framework/scorecard-test:v") {
				t.Errorf("%s: %v is not a test of the scorecard's own image under its own name", scorecardFile, test)
				continue
			}
			suite := test.Labels["suite"]
			listed[suite] = append(listed[suite], test.Entrypoint[1])
		}
	}
	return listed
}

func TestTheBundleListsTheScorecardTestsThatRunHere(t *testing.T) {
	anyOrder := cmpopts.SortSlices(strings.Compare)
	if diff := cmp.Diff(scorecard.Tests(), scorecardTests(t), anyOrder); diff != "" {
		t.Errorf("%s (-run here +listed):\n%s", scorecardFile, diff)
	}
}

func TestTheScorecardPassesTheBundle(t *testing.T) {
	suggestions := map[string][]string{
		// A sample is what a user writes, and users write no status.
		"olm-status-descriptors": {"memcacheds.cache.example.com does not have status spec"},
	}
	for _, test := range slices.Concat(slices.Collect(maps.Values(scorecardTests(t)))...) {
		t.Run(test, func(t *testing.T) {
			got, err := scorecard.Run(test, committed(t))
			if err != nil {
				t.Fatal(err)
			}
			want := scorecard.Result{State: scorecard.Pass, Suggestions: suggestions[test]}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// brokenScorecards are copies of the bundle, in one file of which a text is another.
var brokenScorecards = map[string]struct {
	test     string
	file     string
	old, new string
	want     scorecard.State
	says     string // in an error or a suggestion
}{
	"no package": {
		"olm-bundle-validation", annotationsFile, "v1: memcached-operator", `v1: ""`, scorecard.Fail, "package.v1",
	},
	"a kind that OLM can not install": {
		"olm-bundle-validation", serviceFile, "kind: Service", "kind: Deployment", scorecard.Fail, "has no place",
	},
	"a category that only the catalogs mind": {
		"olm-bundle-validation", csvFile, "categories: Database", "categories: Caches", scorecard.Pass, "Caches",
	},
	"examples that are no JSON, for the basic test": {
		"basic-check-spec", csvFile, `"size": 3`, `"size": three`, scorecard.Fail, "error getting custom resources",
	},
	"an example without a spec, for the basic test": {
		"basic-check-spec", csvFile, `"spec": {`, `"specs": {`, scorecard.Pass, "spec missing from [memcached-sample]",
	},
	"examples that are no JSON": {
		"olm-crds-have-validation", csvFile, `"size": 3`, `"size": three`, scorecard.Error, "failed to parse alm-examples",
	},
	"an example's field that no schema knows": {
		"olm-crds-have-validation", csvFile, `"size": 3`, `"sizes": 3`, scorecard.Fail, "spec field `sizes`",
	},
	"an example's status that no schema knows": {
		"olm-crds-have-validation", csvFile, `"spec": {`, `"status": {"phase": "x"}, "spec": {`, scorecard.Fail,
		"status field `phase`",
	},
	"a definition without a schema": {
		"olm-crds-have-validation", crdFile, "openAPIV3Schema:", "none:", scorecard.Pass, "Memcached/v1",
	},
	"an API without resources": {
		"olm-crds-have-resources", csvFile, "      resources:\n", "      others:\n", scorecard.Fail,
		"do not have resources",
	},
	"a field without a descriptor": {
		"olm-spec-descriptors", csvFile, "- path: size\n", "- path: sizes\n", scorecard.Fail, "size does not have a spec",
	},
	"an example without a spec": {
		"olm-spec-descriptors", csvFile, `"spec": {`, `"specs": {`, scorecard.Fail, "memcached-sample has no spec",
	},
	"an example of an API that is not owned": {
		"olm-spec-descriptors", csvFile, `"kind": "Memcached"`, `"kind": "Cache"`, scorecard.Fail, "an owned CRD",
	},
	"descriptors for examples that are no JSON": {
		"olm-spec-descriptors", csvFile, `"size": 3`, `"size": three`, scorecard.Error, "failed to parse",
	},
	"a status without descriptors": {
		"olm-status-descriptors", csvFile, "      statusDescriptors:\n", "      others:\n", scorecard.Fail,
		"does not have a status descriptor",
	},
	"a status of an API that is not owned": {
		"olm-status-descriptors", csvFile, `"kind": "Memcached"`, `"kind": "Cache"`, scorecard.Fail, "an owned CRD",
	},
	"a status in examples that are no JSON": {
		"olm-status-descriptors", csvFile, `"size": 3`, `"size": three`, scorecard.Error, "failed to parse",
	},
}

func TestAScorecardTestFailsWhenItShould(t *testing.T) {
	seen := map[string]bool{}
	for name, tc := range brokenScorecards {
		seen[tc.test] = seen[tc.test] || tc.want == scorecard.Fail
		t.Run(name, func(t *testing.T) {
			files := firstRelease(t)
			if tc.test == "olm-status-descriptors" { // It looks only at examples with a status.
				files[csvFile] = strings.ReplaceAll(files[csvFile], `"spec": {`, `"status": {"replicas": 3}, "spec": {`)
			}
			if !strings.Contains(files[tc.file], tc.old) {
				t.Fatalf("%s does not hold %q", tc.file, tc.old)
			}
			files[tc.file] = strings.ReplaceAll(files[tc.file], tc.old, tc.new)
			got, err := scorecard.Run(tc.test, files)
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(slices.Concat(got.Errors, got.Suggestions), "\n")
			if got.State != tc.want || !strings.Contains(said, tc.says) {
				t.Errorf("%s: %s, want %s with %q: %s", tc.test, got.State, tc.want, tc.says, said)
			}
		})
	}
	for _, test := range slices.Concat(slices.Collect(maps.Values(scorecard.Tests()))...) {
		if !seen[test] {
			t.Errorf("no case makes %s fail", test)
		}
	}
}

func TestATestThatTheScorecardDoesNotHaveIsRefused(t *testing.T) {
	if _, err := scorecard.Run("olm-status-written", committed(t)); err == nil {
		t.Error("want an error that names the tests")
	}
}
