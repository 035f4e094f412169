// Package sbom describes what images consist of, as SPDX 2.3. It reads the images themselves, and in each Go program
// what Go has recorded there.
package sbom

import (
	"archive/tar"
	"bytes"
	"crypto/sha1" //nolint:gosec // SPDX requires it of each file.
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"runtime/debug"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"

	"github.com/example-inc/memcached-operator/scripts/release/cut"
)

const (
	noAssertion = "NOASSERTION"
	license     = "Apache-2.0" // of this project
	root        = "Image"
)

// document grows: elements that several platforms share are added once.
type document struct {
	spdx.Document

	image cut.Image
	ids   map[common.ElementID]bool
}

// Write writes one document for all platforms of an image: they share most packages. Created is the time that the
// document names, as in 2026-01-31T12:00:00Z.
func Write(out io.Writer, image cut.Image, created string) error {
	d := &document{image: image, ids: map[common.ElementID]bool{}, Document: spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense,
		SPDXIdentifier: "DOCUMENT", DocumentName: image.Name + "-" + image.Tag,
		CreationInfo: &spdx.CreationInfo{
			Created:  created,
			Creators: []spdx.Creator{{CreatorType: "Tool", Creator: "memcached-operator-scripts-release"}},
		},
	}}
	d.addImage("DOCUMENT", common.TypeRelationshipDescribe, root, image.Digest, "")
	manifest, err := image.Index.IndexManifest()
	if err != nil {
		return err
	}
	for _, entry := range manifest.Manifests {
		if err := d.addPlatform(entry); err != nil {
			return fmt.Errorf("SBOM of %s: %w", image.Name, err)
		}
	}
	// The namespace is unique to the content, and the same wherever the document is made.
	var content bytes.Buffer
	if err := spdxjson.Write(d.Document, &content); err != nil {
		return err
	}
	sum := sha256.Sum256(content.Bytes())
	name := url.PathEscape(d.DocumentName) + "-" + hex.EncodeToString(sum[:16])
	d.DocumentNamespace = "https://spdx.org/spdxdocs/" + name
	return spdxjson.Write(d.Document, out, spdxjson.Indent("  "))
}

// addPlatform adds the image of one platform, with its files.
func (d *document) addPlatform(entry v1.Descriptor) error {
	platform := strings.ReplaceAll(entry.Platform.String(), "/", "-")
	id := common.ElementID(root + "-" + platform)
	d.addImage(root, common.TypeRelationshipContains, id, entry.Digest.String(), entry.Platform.Architecture)
	image, err := d.image.Index.Image(entry.Digest)
	if err != nil {
		return err
	}
	files := mutate.Extract(image)
	defer files.Close()
	archive := tar.NewReader(files)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		d.addFile(id, platform, header.Name, content)
	}
}

// addImage adds an index, or the image of a platform.
func (d *document) addImage(of common.ElementID, as string, id common.ElementID, digest, architecture string) {
	query := url.Values{"repository_url": {d.image.Repository}, "tag": {d.image.Tag}}
	name := d.image.Name
	if architecture != "" {
		query.Set("arch", architecture)
		name += "-" + architecture
	}
	d.addPackage(of, as, &spdx.Package{
		PackageSPDXIdentifier: id, PackageName: name, PackageVersion: d.image.Tag, PrimaryPackagePurpose: "CONTAINER",
		PackageLicenseDeclared:    license,
		PackageChecksums:          []spdx.Checksum{{Algorithm: spdx.SHA256, Value: strings.TrimPrefix(digest, "sha256:")}},
		PackageExternalReferences: purl("pkg:oci/" + d.image.Name + "@" + url.QueryEscape(digest) + "?" + query.Encode()),
	})
}

// addFile adds a file of an image: a Go program with all its modules, anything else with its checksums.
func (d *document) addFile(image common.ElementID, platform, name string, content []byte) {
	sum := sha256.Sum256(content)
	checksum := spdx.Checksum{Algorithm: spdx.SHA256, Value: hex.EncodeToString(sum[:])}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil { // It is not a Go program.
		id := identifier("File", name, checksum.Value)
		if d.isNew(image, common.TypeRelationshipContains, id) {
			sha1sum := sha1.Sum(content) //nolint:gosec // SPDX requires it of each file.
			d.Files = append(d.Files, &spdx.File{
				FileSPDXIdentifier: id, FileName: "./" + name,
				LicenseConcluded: noAssertion, LicenseInfoInFiles: []string{noAssertion}, FileCopyrightText: noAssertion,
				Checksums: []spdx.Checksum{{Algorithm: spdx.SHA1, Value: hex.EncodeToString(sha1sum[:])}, checksum},
			})
		}
		return
	}
	id := common.ElementID("Program-" + platform + "-" + name)
	d.addPackage(image, common.TypeRelationshipContains, &spdx.Package{
		PackageSPDXIdentifier: id, PackageName: info.Path, PackageVersion: d.image.Tag, PackageFileName: "/" + name,
		PrimaryPackagePurpose: "APPLICATION", PackageLicenseDeclared: license, PackageChecksums: []spdx.Checksum{checksum},
	})
	standard := &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
	for _, module := range append([]*debug.Module{standard}, info.Deps...) {
		if module.Replace != nil {
			module = module.Replace
		}
		d.addPackage(id, common.TypeRelationshipDependsOn, &spdx.Package{
			PackageSPDXIdentifier: identifier("Module", module.Path, module.Version),
			PackageName:           module.Path, PackageVersion: module.Version, PrimaryPackagePurpose: "LIBRARY",
			PackageSourceInfo:         strings.TrimSuffix("checksum in go.sum: "+module.Sum, "checksum in go.sum: "),
			PackageExternalReferences: purl("pkg:golang/" + module.Path + "@" + module.Version),
		})
	}
}

func (d *document) addPackage(of common.ElementID, as string, p *spdx.Package) {
	if !d.isNew(of, as, p.PackageSPDXIdentifier) {
		return
	}
	p.PackageDownloadLocation, p.PackageLicenseConcluded, p.PackageCopyrightText = noAssertion, noAssertion, noAssertion
	if p.PackageLicenseDeclared == "" {
		p.PackageLicenseDeclared = noAssertion
	}
	d.Packages = append(d.Packages, p)
}

// isNew relates an element to another, and returns whether it has to be added to the document.
func (d *document) isNew(of common.ElementID, as string, id common.ElementID) bool {
	d.Relationships = append(d.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(of)), RefB: common.MakeDocElementID("", string(id)), Relationship: as,
	})
	known := d.ids[id]
	d.ids[id] = true
	return !known
}

var notInIdentifiers = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// identifier makes an identifier of names with any characters. A checksum keeps those apart that look alike.
func identifier(kind, name, version string) common.ElementID {
	sum := sha256.Sum256([]byte(name + "@" + version))
	return common.ElementID(kind + "-" + notInIdentifiers.ReplaceAllString(name, "-") + "-" + hex.EncodeToString(sum[:4]))
}

func purl(locator string) []*spdx.PackageExternalReference {
	return []*spdx.PackageExternalReference{{
		Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: locator,
	}}
}
