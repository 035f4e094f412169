// Package sbom describes what images consist of, as SPDX 2.3. It reads the images themselves: of each Go program, what
// Go has recorded in it.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

// Image is the image to describe, an index of platforms.
type Image struct {
	Name, Repository, Tag, Digest string

	Index v1.ImageIndex
}

const (
	noAssertion = "NOASSERTION"
	license     = "Apache-2.0" // of this project
	root        = "Image"
)

// Write writes one document for all platforms of an image. They share most packages, and who scans an image knows it
// by the digest of its index. Created is the time that the document names, as in 2026-01-31T12:00:00Z.
func Write(out io.Writer, i Image, created string) error {
	d := &document{ids: map[common.ElementID]bool{}, Document: &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense,
		SPDXIdentifier: "DOCUMENT", DocumentName: i.Name + "-" + i.Tag,
		CreationInfo: &spdx.CreationInfo{
			Created:  created,
			Creators: []spdx.Creator{{CreatorType: "Tool", Creator: "memcached-operator-scripts-release"}},
		},
	}}
	d.addPackage(imagePackage(root, i, i.Digest, ""))
	d.relate("DOCUMENT", common.TypeRelationshipDescribe, root)
	if err := d.addPlatforms(i); err != nil {
		return fmt.Errorf("SBOM of %s: %w", i.Name, err)
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

// document is a document that grows. Elements that several platforms share are added once.
type document struct {
	*spdx.Document

	ids map[common.ElementID]bool
}

// isNew tells it of each element once.
func (d *document) isNew(id common.ElementID) bool {
	known := d.ids[id]
	d.ids[id] = true
	return !known
}

func (d *document) addPackage(p *spdx.Package) {
	if !d.isNew(p.PackageSPDXIdentifier) {
		return
	}
	p.PackageDownloadLocation, p.PackageLicenseConcluded, p.PackageCopyrightText = noAssertion, noAssertion, noAssertion
	if p.PackageLicenseDeclared == "" {
		p.PackageLicenseDeclared = noAssertion
	}
	d.Packages = append(d.Packages, p)
}

func (d *document) relate(a common.ElementID, relationship string, b common.ElementID) {
	d.Relationships = append(d.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(a)), RefB: common.MakeDocElementID("", string(b)),
		Relationship: relationship,
	})
}

// imagePackage is an index, or the image of a platform.
func imagePackage(id common.ElementID, i Image, digest, architecture string) *spdx.Package {
	query := url.Values{"repository_url": {i.Repository}, "tag": {i.Tag}}
	name := i.Name
	if architecture != "" {
		query.Set("arch", architecture)
		name += "-" + architecture
	}
	return &spdx.Package{
		PackageSPDXIdentifier: id, PackageName: name, PackageVersion: i.Tag, PrimaryPackagePurpose: "CONTAINER",
		PackageLicenseDeclared:    license,
		PackageChecksums:          []spdx.Checksum{{Algorithm: spdx.SHA256, Value: digest[len("sha256:"):]}},
		PackageExternalReferences: purl("pkg:oci/" + i.Name + "@" + url.QueryEscape(digest) + "?" + query.Encode()),
	}
}

func purl(locator string) []*spdx.PackageExternalReference {
	return []*spdx.PackageExternalReference{{
		Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: locator,
	}}
}
