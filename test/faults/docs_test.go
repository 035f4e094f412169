package main

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/example-inc/memcached-operator/internal/testing/page"
	"github.com/example-inc/memcached-operator/test/faults/actions"
	"github.com/example-inc/memcached-operator/test/faults/model"
	"github.com/example-inc/memcached-operator/test/faults/mutants"
	"github.com/example-inc/memcached-operator/test/faults/schema"
)

var update = flag.Bool("update", false, "write the tables of the page")

const (
	root            = "../.."
	reliabilityPage = root + "/docs/reliability.md"
)

func TestTheDocsListRulesAndActions(t *testing.T) {
	rules := "| rule | promise |\n| --- | --- |\n"
	for _, rule := range model.Rules() {
		rules += fmt.Sprintf("| %s | %s |\n", rule.Name, rule.Promise)
	}
	s, err := schema.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	list := "| action | weight | only on Nodes that are |\n| --- | --- | --- |\n"
	for _, action := range actions.All(s) {
		list += fmt.Sprintf("| %s | %d | %s |\n", action.Name, action.Weight, action.Only)
	}
	page.Tables(t, reliabilityPage, *update, map[string]string{"rules": rules, "actions": list})
}

func TestTheDocsListEachMutant(t *testing.T) {
	content := page.Read(t, reliabilityPage)
	for _, mutant := range mutants.All() {
		if !strings.Contains(content, "\n| "+mutant.Name+" | ") {
			t.Errorf("no mutant %q in %s: go run ./test/faults mutants --only %q --page docs/reliability.md",
				mutant.Name, reliabilityPage, mutant.Name)
		}
	}
}
