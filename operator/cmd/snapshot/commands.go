package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/example-inc/memcached-operator/operator/cmd/snapshot/bucket"
	"github.com/example-inc/memcached-operator/operator/internal/agent/handoff"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
)

const example = `  memcached-snapshot save --cache shop --to "s3://backups?region=eu-central-1&prefix=caches/" \
    --server shop-0=shop-0.shop-slots.team.svc:11211 --server shop-1=shop-1.shop-slots.team.svc:11211
  memcached-snapshot verify --from "s3://backups?region=eu-central-1&prefix=caches/" --name shop-20261127T120000Z
  memcached-snapshot restore --from "s3://backups?region=eu-central-1&prefix=caches/" --name shop-20261127T120000Z \
    --server shop-0=shop-0.shop-slots.team.svc:11211 --server shop-1=shop-1.shop-slots.team.svc:11211`

func newCommand(version string) *cobra.Command {
	root := &cobra.Command{
		Use: "memcached-snapshot", Short: "Saves the keys of a cache in a bucket or a folder, and restores them",
		Version: version, Example: example, SilenceErrors: true, SilenceUsage: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(saveCommand(), restoreCommand(), verifyCommand())
	return root
}

func saveCommand() *cobra.Command {
	o := &options{}
	return o.command("save", "Saves all keys of a cache as a snapshot", o.addSave,
		func(ctx context.Context, store *bucket.Bucket, p *printer) (result, error) {
			s := &snapshot.Save{
				Store: store, Name: o.name, Cache: o.cache, Owner: o.owner, Servers: o.list,
				Pace: handoff.Limit(o.bytesPerSecond), Once: o.once,
			}
			defer p.follow(ctx, &s.Progress)()
			m, err := s.Run(ctx)
			return o.result(m).of("saved").leftOut(m), err
		})
}

func restoreCommand() *cobra.Command {
	o := &options{}
	return o.command("restore", "Adds the keys of a snapshot to a cache, "+
		"and does not replace keys that the cache has", o.addRestore,
		func(ctx context.Context, store *bucket.Bucket, p *printer) (result, error) {
			r := &snapshot.Restore{
				Store: store, Name: o.name, Servers: o.list, Hash: o.hash, Pace: handoff.Limit(o.bytesPerSecond),
			}
			defer p.follow(ctx, &r.Progress)()
			m, added, err := r.Run(ctx)
			return o.result(m).of("restored").added(added), err
		})
}

func verifyCommand() *cobra.Command {
	o := &options{}
	return o.command("verify", "Reads the whole snapshot, and checks its checksums", o.addVerify,
		func(ctx context.Context, store *bucket.Bucket, p *printer) (result, error) {
			v := &snapshot.Verify{Store: store, Name: o.name}
			defer p.follow(ctx, &v.Progress)()
			m, err := v.Run(ctx)
			return o.result(m).of("whole").leftOut(m), err
		})
}
