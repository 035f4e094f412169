package sbom

import (
	"archive/tar"
	"bytes"
	"crypto/sha1" //nolint:gosec // SPDX requires it of each file.
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"io"
	"regexp"
	"runtime/debug"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

func (d *document) addPlatforms(i Image) error {
	manifest, err := i.Index.IndexManifest()
	if err != nil {
		return err
	}
	for _, entry := range manifest.Manifests {
		platform := strings.ReplaceAll(entry.Platform.String(), "/", "-")
		id := common.ElementID(root + "-" + platform)
		d.addPackage(imagePackage(id, i, entry.Digest.String(), entry.Platform.Architecture))
		d.relate(root, common.TypeRelationshipContains, id)
		image, err := i.Index.Image(entry.Digest)
		if err != nil {
			return err
		}
		err = eachFile(image, func(name string, content []byte) error {
			return d.addFile(id, i.Tag, platform, name, content)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachFile visits the files of an image.
func eachFile(image v1.Image, visit func(name string, content []byte) error) error {
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		if err := eachFileOf(layer, visit); err != nil {
			return err
		}
	}
	return nil
}

func eachFileOf(layer v1.Layer, visit func(name string, content []byte) error) error {
	stream, err := layer.Uncompressed()
	if err != nil {
		return err
	}
	defer stream.Close()
	archive := tar.NewReader(stream)
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
		if err := visit(header.Name, content); err != nil {
			return err
		}
	}
}

// addFile adds a file of an image: a Go program with all its modules, anything else by its checksums.
func (d *document) addFile(image common.ElementID, version, platform, name string, content []byte) error {
	sum := sha256.Sum256(content)
	checksum := spdx.Checksum{Algorithm: spdx.SHA256, Value: hex.EncodeToString(sum[:])}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil { // It is no Go program.
		id := identifier("File", name, checksum.Value)
		d.addOtherFile(id, name, content, checksum)
		d.relate(image, common.TypeRelationshipContains, id)
		return nil
	}
	id := common.ElementID("Program-" + platform + "-" + name)
	d.addPackage(&spdx.Package{
		PackageSPDXIdentifier: id, PackageName: info.Path, PackageVersion: version, PackageFileName: "/" + name,
		PrimaryPackagePurpose: "APPLICATION", PackageLicenseDeclared: license, PackageChecksums: []spdx.Checksum{checksum},
	})
	d.relate(image, common.TypeRelationshipContains, id)
	standard := &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
	for _, module := range append([]*debug.Module{standard}, info.Deps...) {
		d.relate(id, common.TypeRelationshipDependsOn, d.addModule(module))
	}
	return nil
}

func (d *document) addOtherFile(id common.ElementID, name string, content []byte, checksum spdx.Checksum) {
	if !d.isNew(id) {
		return
	}
	sum := sha1.Sum(content) //nolint:gosec // SPDX requires it of each file.
	d.Files = append(d.Files, &spdx.File{
		FileSPDXIdentifier: id, FileName: "./" + name,
		LicenseConcluded: noAssertion, LicenseInfoInFiles: []string{noAssertion}, FileCopyrightText: noAssertion,
		Checksums: []spdx.Checksum{{Algorithm: spdx.SHA1, Value: hex.EncodeToString(sum[:])}, checksum},
	})
}

// addModule adds a Go module, the one that replaces it where there is one.
func (d *document) addModule(module *debug.Module) common.ElementID {
	if module.Replace != nil {
		module = module.Replace
	}
	id := identifier("Module", module.Path, module.Version)
	p := &spdx.Package{
		PackageSPDXIdentifier: id, PackageName: module.Path, PackageVersion: module.Version, PrimaryPackagePurpose: "LIBRARY",
		PackageExternalReferences: purl("pkg:golang/" + module.Path + "@" + module.Version),
	}
	if module.Sum != "" {
		p.PackageSourceInfo = "checksum in go.sum: " + module.Sum
	}
	d.addPackage(p)
	return id
}

var notInIdentifiers = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// identifier makes an identifier of names that may hold any character. A checksum keeps those apart that look alike.
func identifier(kind, name, version string) common.ElementID {
	sum := sha256.Sum256([]byte(name + "@" + version))
	return common.ElementID(kind + "-" + notInIdentifiers.ReplaceAllString(name, "-") + "-" + hex.EncodeToString(sum[:4]))
}
