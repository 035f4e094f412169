package instruction

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestEncode(t *testing.T) {
	tests := map[string]struct {
		instruction Instruction
		want        string
	}{
		"no instruction": {Instruction{}, ""},
		"a Pod that serves": {
			Instruction{Slot: "shop-0", Role: Serve, Since: noon},
			`{"slot":"shop-0","role":"serve","since":"2026-11-23T12:00:00Z"}`,
		},
		"times are in UTC and whole seconds": {
			Instruction{Slot: "shop-0", Role: Serve, Since: noon.Add(time.Millisecond).In(time.FixedZone("", 3600))},
			`{"slot":"shop-0","role":"serve","since":"2026-11-23T12:00:00Z"}`,
		},
		"a copy": {
			Instruction{
				Slot: "shop-2", Role: Receive, From: "10.1.2.3", Rate: 32 << 20, Within: 90, Since: noon,
				Record: Record{State: StateCopying, CopySeconds: 9, StateSince: noon},
			},
			`{"slot":"shop-2","role":"receive","from":"10.1.2.3","rate":33554432,"within":90,"since":"2026-11-23T12:00:00Z",` +
				`"record":{"state":"Copying","copySeconds":9,"stateSince":"2026-11-23T12:00:00Z"}}`,
		},
		"other memory than at the start": {
			Instruction{Slot: "shop-0", Role: Serve, Since: noon, Memory: 128 << 20},
			`{"slot":"shop-0","role":"serve","since":"2026-11-23T12:00:00Z","memory":134217728}`,
		},
		"only the operator's record": {
			Instruction{Record: Record{MovedAt: noon}},
			`{"record":{"movedAt":"2026-11-23T12:00:00Z"}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			encoded := test.instruction.Encode()
			if diff := cmp.Diff(test.want, encoded); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			decoded, err := Decode(encoded)
			if diff := cmp.Diff(test.instruction.Normal(), decoded); err != nil || diff != "" {
				t.Errorf("decoded: %v\n%s", err, diff)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	tests := map[string]struct{ content, want string }{
		"an empty file":                 {"", ""},
		"white space":                   {" \n", ""},
		"an empty object":               {"{}", ""},
		"an unknown field is ignored":   {`{"slot":"a-0","role":"serve","color":"red"}`, `{"slot":"a-0","role":"serve"}`},
		"an IPv6 address":               {`{"slot":"a-0","role":"moved","from":"fd00::1"}`, `{"slot":"a-0","role":"moved","from":"fd00::1"}`},
		"no JSON":                       {"receive", "the instruction is not valid JSON"},
		"half of it":                    {`{"slot":"a-0","role":"rec`, "the instruction is not valid JSON"},
		"more than one object":          {`{} {}`, "the instruction is not valid JSON"},
		"a role of a newer operator":    {`{"slot":"a-0","role":"merge"}`, `role "merge" is unknown`},
		"no slot":                       {`{"role":"serve"}`, "role serve: slot is empty"},
		"a copy from nowhere":           {`{"slot":"a-0","role":"receive"}`, `role receive: from "" is no IP address`},
		"a copy from a name":            {`{"slot":"a-0","role":"moved","from":"shop"}`, `role moved: from "shop" is no IP address`},
		"a negative rate":               {`{"slot":"a-0","role":"serve","rate":-1}`, "rate -1 is negative"},
		"a time that is too long":       {`{"slot":"a-0","role":"leave","end":86401}`, "end 86401 is not within 0 and 86400"},
		"a negative time":               {`{"slot":"a-0","role":"leave","end":-1}`, "end -1 is not within 0 and 86400"},
		"a year that can't be encoded":  {`{"since":"9999-12-31T23:59:59-01:00"}`, "the year 10000 can't be encoded"},
		"a record with a negative time": {`{"record":{"copySeconds":-1}}`, "record: copySeconds -1 is negative"},
		"half a mebibyte":               {`{"slot":"a-0","role":"serve","memory":524288}`, "memory 524288 is no number of whole mebibytes"},
		"a deadline in the past":        {`{"slot":"a-0","role":"serve","within":-1}`, "within -1 is not within 0 and 86400"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			decoded, err := Decode(test.content)
			if err != nil {
				if test.want == "" || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("want %q, got %v", test.want, err)
				}
				return
			}
			if diff := cmp.Diff(test.want, decoded.Encode()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestOrderIsWithoutTheOperatorsRecord(t *testing.T) {
	copying := Instruction{Slot: "a-0", Role: Receive, From: "10.0.0.1", Since: noon}
	recorded := copying
	recorded.Record = Record{State: StateCopying, CopySeconds: 1, MovedAt: noon}
	if copying.Order() != recorded.Order() {
		t.Errorf("%+v differs from %+v", copying.Order(), recorded.Order())
	}
}

// FuzzDecode looks for content that ends the program, and for an instruction that changes by being written again.
func FuzzDecode(f *testing.F) {
	f.Add(`{"slot":"a-0","role":"receive","from":"10.0.0.1","rate":1,"since":"2026-11-23T12:00:00Z","end":3}`)
	f.Add(`{"record":{"state":"Cold","reason":"x","movedAt":"2026-11-23T12:00:00.5+01:00"}}`)
	f.Add(`{"since":"0000-01-01T00:00:00+23:59"}`)
	f.Fuzz(func(t *testing.T, content string) {
		first, err := Decode(content)
		if err != nil {
			return
		}
		second, err := Decode(first.Encode())
		if err != nil || first != second {
			t.Errorf("%q: %+v became %+v: %v", content, first, second, err)
		}
	})
}
