package actions

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestARequestIsRepeatedUntilTheAPIServerHasDecided(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	down := errors.New("connection refused")
	for name, answers := range map[string][]error{
		"accepted":                     {nil},
		"the API server is down":       {down, down, nil},
		"it starts":                    {apierrors.NewServiceUnavailable("starting"), apierrors.NewTooManyRequests("", 0), nil},
		"another client was faster":    {apierrors.NewConflict(pods, "a", nil), nil},
		"refused by a limit":           {down, apierrors.NewForbidden(pods, "a", nil)},
		"the target is missing":        {apierrors.NewNotFound(pods, "a")},
		"the target exists":            {apierrors.NewAlreadyExists(pods, "a")},
		"the request is not a request": {apierrors.NewBadRequest("what?")},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			err := ask(t.Context(), func(context.Context) error { asked++; return answers[asked-1] })
			if last := answers[len(answers)-1]; !errors.Is(err, last) || asked != len(answers) {
				t.Errorf("asked %d times, got %v: %s", asked, err, cmp.Diff(last, err, cmpopts.EquateErrors()))
			}
		})
	}
}
