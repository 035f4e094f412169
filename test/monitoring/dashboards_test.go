package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/example-inc/memcached-operator/internal/testing/dashboards"
	"github.com/example-inc/memcached-operator/internal/testing/page"
)

// TestGrafanasSchemaTakesTheDashboards reads the dashboards by Grafana's schema. It runs no Grafana.
func TestGrafanasSchemaTakesTheDashboards(t *testing.T) {
	uids := map[string]string{}
	for file, read := range readDashboards(t) {
		want := "memcached-" + strings.TrimSuffix(file, ".json")
		if uid := *read.Uid; uid != want {
			t.Errorf("%s has the uid %s, want %s", file, uid, want)
		}
		uids[*read.Uid] = file
	}
	for _, uid := range []string{"memcached-fleet", "memcached-cache", "memcached-pod", "memcached-operator"} {
		if uids[uid] == "" {
			t.Errorf("no dashboard has the uid %s", uid)
		}
	}
}

func TestEachPanelHasTitleDescriptionUnitAndQuery(t *testing.T) {
	for file, read := range readDashboards(t) {
		ids := map[uint32]string{}
		for _, panel := range dashboards.Panels(read) {
			title := *panel.Title
			if title == "" || panel.Description == nil || *panel.Description == "" {
				t.Errorf("%s: %q has no title or no description", file, title)
			}
			if unit := panel.FieldConfig.Defaults.Unit; unit == nil || *unit == "" {
				t.Errorf("%s: %q has no unit", file, title)
			}
			if thresholds := panel.FieldConfig.Defaults.Thresholds; panel.Type != "timeseries" && thresholds == nil {
				t.Errorf("%s: %q has no thresholds", file, title)
			}
			queries := dashboards.Queries(dashboards.Dashboard{Panels: []dashboard.PanelOrRowPanel{{Panel: &panel}}})
			if len(queries) == 0 || len(queries) != len(panel.Targets) {
				t.Errorf("%s: %q has %d queries, of which %d are of Prometheus", file, title, len(panel.Targets), len(queries))
			}
			if source := panel.Datasource; source == nil || *source.Uid != "$datasource" {
				t.Errorf("%s: %q does not query the data source that the viewer chooses", file, title)
			}
			if other, taken := ids[*panel.Id]; taken {
				t.Errorf("%s: %q and %q have the id %d", file, title, other, *panel.Id)
			}
			ids[*panel.Id] = title
		}
	}
}

func TestNoPanelCoversAnother(t *testing.T) {
	type cell struct{ x, y uint32 }
	for file, read := range readDashboards(t) {
		covered := map[cell]string{}
		for _, each := range read.Panels {
			at, title := gridPos(each)
			for x := at.X; x < at.X+at.W; x++ {
				for y := at.Y; y < at.Y+at.H; y++ {
					if other := covered[cell{x, y}]; other != "" || x >= 24 {
						t.Fatalf("%s: %q covers %q, or is wider than the grid, at column %d, line %d", file, title, other, x, y)
					}
					covered[cell{x, y}] = title
				}
			}
		}
	}
}

func gridPos(panel dashboard.PanelOrRowPanel) (at dashboard.GridPos, title string) {
	if panel.RowPanel != nil {
		return *panel.RowPanel.GridPos, *panel.RowPanel.Title
	}
	return *panel.Panel.GridPos, *panel.Panel.Title
}

var (
	variableUse = regexp.MustCompile(`\$\{?(\w+)`)
	dashboardID = regexp.MustCompile(`/d/(memcached-\w+)\?`)
)

// TestTheDashboardsUseVariablesThatExist checks the variables in queries, and in links to other dashboards.
func TestTheDashboardsUseVariablesThatExist(t *testing.T) {
	all := readDashboards(t)
	variables := map[string][]string{} // by the uid of the dashboard
	for _, read := range all {
		for _, variable := range read.Templating.List {
			variables[*read.Uid] = append(variables[*read.Uid], variable.Name)
		}
	}
	for file, read := range all {
		// Grafana defines the variables that begin with two underscores.
		uses := variableUse.FindAllStringSubmatch(page.Read(t, filepath.Join(folderOfDashboards, file)), -1)
		for _, use := range uses {
			if !strings.HasPrefix(use[1], "__") && !slices.Contains(variables[*read.Uid], use[1]) {
				t.Errorf("%s uses the variable %s, and has %v", file, use[1], variables[*read.Uid])
			}
		}
		for _, url := range linksOf(read) {
			id := dashboardID.FindStringSubmatch(url)
			if id == nil {
				continue
			}
			for _, sets := range regexp.MustCompile(`var-(\w+)=`).FindAllStringSubmatch(url, -1) {
				if !slices.Contains(variables[id[1]], sets[1]) {
					t.Errorf("%s links to %s with the variable %s, which has %v", file, id[1], sets[1], variables[id[1]])
				}
			}
		}
	}
}

func linksOf(read dashboards.Dashboard) (urls []string) {
	for _, link := range read.Links {
		if link.Url != nil {
			urls = append(urls, *link.Url)
		}
	}
	for _, panel := range dashboards.Panels(read) {
		for _, link := range panel.Links {
			urls = append(urls, *link.Url)
		}
		for _, link := range panel.FieldConfig.Defaults.Links {
			urls = append(urls, *link.Url)
		}
	}
	return urls
}

var onPages = regexp.MustCompile(`^https://github\.com/example-inc/memcached-operator/blob/(?:main|v[0-9][^/]*)/(docs/[^#]+)(?:#(.+))?$`)

func TestTheLinksOfDashboardsLeadToPages(t *testing.T) {
	for file, read := range readDashboards(t) {
		for _, url := range linksOf(read) {
			if dashboardID.MatchString(url) {
				continue
			}
			found := onPages.FindStringSubmatch(url)
			if found == nil {
				t.Errorf("%s links to %s, which is no page of this repository", file, url)
				continue
			}
			text := strings.ToLower(page.Read(t, filepath.Join(repository, found[1])))
			if found[2] != "" && !strings.Contains(text, "\n## "+found[2]+"\n") {
				t.Errorf("%s links to %s: the page has no such heading", file, url)
			}
		}
	}
}

// asInGrafana has values for variables, in the form in which Grafana inserts them.
var asInGrafana = map[string]string{
	"cluster": ".*", "namespace": "team", "memcached": "sessions", "pod": "sessions-0",
	"__rate_interval": "1m", "__range": "6h",
}

func TestPrometheusTakesTheQueriesOfTheDashboards(t *testing.T) {
	var rules []monitoringv1.Rule
	for _, read := range readDashboards(t) {
		for _, query := range append(dashboards.Queries(read), dashboards.VariableQueries(read)...) {
			rules = append(rules, monitoringv1.Rule{Record: "query", Expr: intstr.FromString(query.With(asInGrafana))})
		}
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	writeRules(t, path, rules)
	if out, ok := run(t, "check", "rules", "--lint=none", path); !ok {
		t.Error(out)
	}
}

// TestTheConfigMapHasAllDashboards checks that the ConfigMap has all dashboards unchanged. A test of the chart compares
// the chart's ConfigMap with this one.
func TestTheConfigMapHasAllDashboards(t *testing.T) {
	want := map[string]string{}
	for _, file := range namesIn(t, folderOfDashboards) {
		content, err := os.ReadFile(filepath.Join(folderOfDashboards, file))
		if err != nil {
			t.Fatal(err)
		}
		want[file] = string(content)
	}
	for name, dir := range map[string]string{
		"the folder that Argo CD follows": repository + "/operator/config/monitoring",
		"the component of the overlays": folder(t,
			"resources: [ROOT/overlays/multiarch]\ncomponents: [ROOT/overlays/components/monitoring]\n"),
	} {
		var config corev1.ConfigMap
		decode(t, build(t, dir), "ConfigMap", &config)
		if diff := cmp.Diff(want, config.Data); diff != "" {
			t.Errorf("%s (-files +ConfigMap):\n%s", name, diff)
		}
		if config.Labels["grafana_dashboard"] != "1" {
			t.Errorf("%s: Grafana's sidecar does not find a ConfigMap with the labels %v", name, config.Labels)
		}
	}
}

const folderOfDashboards = repository + "/" + dashboards.Folder

func readDashboards(t testing.TB) map[string]dashboards.Dashboard {
	t.Helper()
	all, err := dashboards.Read(repository)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d dashboards, error: %v", len(all), err)
	}
	return all
}
