package rows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/test/bench/lab"
	"github.com/example-inc/memcached-operator/test/bench/report"
)

// drift measures what the operator does about what others do: nothing where that is not its business, and how fast
// where it is.
func drift(ctx context.Context, b *Bench, update func(string)) (figures []report.Figure, err error) {
	l, err := b.bare(ctx, "drift")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := l.MakeMemcacheds(ctx, 0, b.Damages, nodes, update); err != nil {
		return nil, err
	}
	operator, err := l.StartOperator(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, operator.Stop()) }()
	if err := operator.Settle(ctx, patience); err != nil {
		return nil, err
	}
	touched, err := touch(ctx, b, l, operator)
	if err != nil {
		return nil, err
	}
	damages, err := damage(ctx, b, l, update)
	return append([]report.Figure{touched}, damages...), err
}

// touch changes what is not the operator's: an annotation of each Memcached, a label of one child of each.
func touch(ctx context.Context, b *Bench, l *lab.Lab, operator *lab.Operator) (figure report.Figure, err error) {
	mark, err := l.Audit.Now()
	if err != nil {
		return figure, err
	}
	for i := range b.Damages {
		annotation, label := `{"metadata":{"annotations":{"example.com/touched":"yes"}}}`,
			`{"metadata":{"labels":{"example.com/touched":"yes"}}}`
		if err := patch(ctx, l, &cachev1.Memcached{}, i, annotation); err != nil {
			return figure, err
		}
		if err := patch(ctx, l, childOf(i).New(), i, label); err != nil {
			return figure, err
		}
	}
	if err := operator.Settle(ctx, patience); err != nil {
		return figure, err
	}
	asked, err := askedSince(l, mark)
	name := fmt.Sprintf("requests after %d foreign annotations and labels", 2*b.Damages)
	return report.Judge(name, float64(len(asked)), report.AtMost(0, ""), asked.first()...), err
}

// damage deletes children or changes a field of the operator's, one after another, each of another Memcached.
func damage(ctx context.Context, b *Bench, l *lab.Lab, update func(string)) ([]report.Figure, error) {
	var all, deleted, changed []time.Duration
	for i := range b.Damages {
		update(fmt.Sprintf("child %d of %d", i, b.Damages))
		del := i/len(lab.Children)%2 == 0
		took, err := heal(ctx, l, i, del)
		if err != nil {
			return nil, err
		}
		all = append(all, took)
		if del {
			deleted = append(deleted, took)
		} else {
			changed = append(changed, took)
		}
	}
	details := []string{"deleted " + median(deleted), "changed " + median(changed)}
	name := fmt.Sprintf("%d children deleted or changed: time to put right, ", b.Damages)
	return []report.Figure{
		report.Judge(name+"p50", percentile(all, 50), report.AtMost(5, "ms"), details...),
		report.Judge(name+"p99", percentile(all, 99), report.AtMost(15, "ms")),
	}, nil
}

// heal damages a child of the i-th Memcached. It returns the time from the API server's answer to that until its answer
// to the operator, which put it right.
func heal(ctx context.Context, l *lab.Lab, i int, del bool) (time.Duration, error) {
	mark, err := l.Audit.Now()
	if err != nil {
		return 0, err
	}
	child := childOf(i)
	if del {
		err = l.Client.Delete(ctx, named(child.New(), i))
	} else {
		err = patch(ctx, l, child.New(), i, child.Harm)
	}
	if err != nil {
		return 0, err
	}
	return answered(ctx, l, mark, child.Resource, child.Resource, lab.Name(i))
}

// answered returns the time from the bench's change of a kind to the operator's write of a kind, both of one Memcached.
func answered(
	ctx context.Context, l *lab.Lab, since lab.Mark, changed, written string, key client.ObjectKey,
) (time.Duration, error) {
	var begin, end time.Time
	err := l.Audit.Await(ctx, since, patience, func(request lab.Request) bool {
		switch {
		case request.Object.Name != key.Name || request.Response.Code >= 300:
		case !request.ByOperator() && request.Kind() == changed:
			begin = request.Answered
		case request.ByOperator() && request.Verb == "patch" && request.Kind() == written:
			end = request.Answered
		}
		return !begin.IsZero() && !end.IsZero()
	})
	if err != nil {
		return 0, fmt.Errorf("wait for the operator to write the %s of %s: %w", written, key, err)
	}
	return end.Sub(begin), nil
}

func childOf(i int) lab.Child { return lab.Children[i%len(lab.Children)] }

func named[T client.Object](object T, i int) T {
	key := lab.Name(i)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	return object
}

// patch merges something into an object of the i-th Memcached.
func patch(ctx context.Context, l *lab.Lab, object client.Object, i int, merge string) error {
	return l.Client.Patch(ctx, named(object, i), client.RawPatch(types.MergePatchType, []byte(merge)))
}

// asked are requests of the operator that it need not have made.
type asked []lab.Request

// askedSince returns what the operator asked for beyond leases, events, watches and questions about itself.
func askedSince(l *lab.Lab, mark lab.Mark) (requests asked, err error) {
	all, err := l.Audit.Since(mark)
	for _, request := range all {
		if request.ByOperator() && !request.IsBackground() && !request.IsAboutItself() {
			requests = append(requests, request)
		}
	}
	return requests, err
}

// withoutLists leaves out those that fill the operator's cache.
func (a asked) withoutLists() (rest asked) {
	for _, request := range a {
		if request.Verb != "list" {
			rest = append(rest, request)
		}
	}
	return rest
}

// first is an example of them, if there is any.
func (a asked) first() []string {
	if len(a) == 0 {
		return nil
	}
	return []string{"such as " + a[0].String()}
}

func percentile(durations []time.Duration, p float64) float64 {
	value, _ := report.Percentile(milliseconds(durations), p)
	return value
}

func median(durations []time.Duration) string {
	return report.Number(percentile(durations, 50)) + " ms"
}
