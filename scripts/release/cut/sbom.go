package cut

import (
	"archive/tar"
	"bytes"
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
)

const (
	license = "Apache-2.0" // of this project
	unknown = "NOASSERTION"
)

// document describes what an image consists of, as SPDX 2.3. Its data come from the image itself and, for each Go
// program, from the build information that Go has stored in the program. Packages that several platforms share are
// added once.
type document struct {
	spdx.Document

	image Image
	index v1.ImageIndex
	ids   map[common.ElementID]bool
}

// writeSBOM writes one document for all platforms of an image: they share most packages. Created is the document's time
// of creation, as in 2026-01-31T12:00:00Z.
func writeSBOM(out io.Writer, image Image, index v1.ImageIndex, created string) error {
	name := image.Name + "-" + image.Tag
	d := &document{image: image, index: index, ids: map[common.ElementID]bool{}, Document: spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: name,
		DocumentNamespace: "https://spdx.org/spdxdocs/" + url.PathEscape(name+"-"+image.Digest),
		CreationInfo: &spdx.CreationInfo{
			Created:  created,
			Creators: []spdx.Creator{{CreatorType: "Tool", Creator: "memcached-operator-scripts-release"}},
		},
	}}
	d.addImage("DOCUMENT", common.TypeRelationshipDescribe, "Image", image.Digest, "")
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, entry := range manifest.Manifests {
		if err := d.addPlatform(entry); err != nil {
			return fmt.Errorf("SBOM of %s: %w", image.Name, err)
		}
	}
	return spdxjson.Write(d.Document, out, spdxjson.Indent("  "))
}

// addImage adds an index of images, or the image of one platform.
func (d *document) addImage(of common.ElementID, as string, id common.ElementID, digest, architecture string) {
	query := url.Values{"repository_url": {d.image.Repository}, "tag": {d.image.Tag}}
	name := d.image.Name
	if architecture != "" {
		query.Set("arch", architecture)
		name += "-" + architecture
	}
	d.add(of, as, &spdx.Package{
		PackageSPDXIdentifier: id, PackageName: name, PackageVersion: d.image.Tag, PrimaryPackagePurpose: "CONTAINER",
		PackageLicenseDeclared: license, PackageChecksums: checksum(strings.TrimPrefix(digest, "sha256:")),
		PackageExternalReferences: purl("pkg:oci/" + d.image.Name + "@" + url.QueryEscape(digest) + "?" + query.Encode()),
	})
}

// addPlatform adds the image of one platform, with its files.
func (d *document) addPlatform(entry v1.Descriptor) error {
	platform := strings.ReplaceAll(entry.Platform.String(), "/", "-")
	id := common.ElementID("Image-" + platform)
	d.addImage("Image", common.TypeRelationshipContains, id, entry.Digest.String(), entry.Platform.Architecture)
	image, err := d.index.Image(entry.Digest)
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

// addFile adds a file of an image, and all modules of a Go program.
func (d *document) addFile(image common.ElementID, platform, name string, content []byte) {
	sum := sha256.Sum256(content)
	file := &spdx.Package{
		PackageName: name, PackageVersion: d.image.Tag, PackageFileName: "/" + name, PrimaryPackagePurpose: "FILE",
		PackageLicenseDeclared: license, PackageChecksums: checksum(hex.EncodeToString(sum[:])),
		PackageSPDXIdentifier: identifier("File", name, string(sum[:])),
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil { // The file is not a Go program.
		d.add(image, common.TypeRelationshipContains, file)
		return
	}
	file.PackageSPDXIdentifier = common.ElementID("Program-" + platform + "-" + name)
	file.PackageName, file.PrimaryPackagePurpose = info.Path, "APPLICATION"
	d.add(image, common.TypeRelationshipContains, file)
	standard := &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go"), Sum: "none"}
	for _, module := range append([]*debug.Module{standard}, info.Deps...) {
		if module.Replace != nil {
			module = module.Replace
		}
		d.add(file.PackageSPDXIdentifier, common.TypeRelationshipDependsOn, &spdx.Package{
			PackageSPDXIdentifier: identifier("Module", module.Path, module.Version),
			PackageName:           module.Path, PackageVersion: module.Version, PrimaryPackagePurpose: "LIBRARY",
			PackageLicenseDeclared: unknown, PackageSourceInfo: "checksum in go.sum: " + module.Sum,
			PackageExternalReferences: purl("pkg:golang/" + module.Path + "@" + module.Version),
		})
	}
}

// add adds a relationship from another element to a package, and adds the package if the document does not have it yet.
func (d *document) add(of common.ElementID, as string, p *spdx.Package) {
	id := p.PackageSPDXIdentifier
	d.Relationships = append(d.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(of)), RefB: common.MakeDocElementID("", string(id)), Relationship: as,
	})
	if !d.ids[id] {
		d.ids[id] = true
		p.PackageDownloadLocation, p.PackageLicenseConcluded, p.PackageCopyrightText = unknown, unknown, unknown
		d.Packages = append(d.Packages, p)
	}
}

var notInIdentifiers = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// identifier makes an identifier from names, which may have any characters. It has a checksum, so that similar names
// have different identifiers.
func identifier(kind, name, version string) common.ElementID {
	sum := sha256.Sum256([]byte(name + "@" + version))
	return common.ElementID(kind + "-" + notInIdentifiers.ReplaceAllString(name, "-") + "-" + hex.EncodeToString(sum[:4]))
}

func checksum(sha256 string) []common.Checksum {
	return []common.Checksum{{Algorithm: common.SHA256, Value: sha256}}
}

func purl(locator string) []*spdx.PackageExternalReference {
	return []*spdx.PackageExternalReference{{
		Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: locator,
	}}
}
