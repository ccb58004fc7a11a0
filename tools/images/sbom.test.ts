import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { debianComponents, npmComponents, spdx } from './sbom.ts';

const STATUS = `Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.41-12
Description: GNU C Library
 Version: of a description

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: ovn-host
Status: install ok installed
Architecture: amd64
Version: 1:25.03.0+a
`;

it('has the installed packages of Debian, with their versions', () => {
  expect(debianComponents(STATUS, 'trixie').map(({ purl }) => purl)).toEqual([
    'pkg:deb/debian/libc6@2.41-12?arch=amd64&distro=trixie',
    'pkg:deb/debian/ovn-host@1%3A25.03.0%2Ba?arch=amd64&distro=trixie',
  ]);
});

it('has the npm packages that programs are made of, and none of tests', () => {
  const names = npmComponents(JSON.parse(readFileSync('package-lock.json', 'utf8'))).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(packageJson.dependencies)));
  expect(names).not.toContain('vitest');
});

it('says of which image all of it is', () => {
  const subject = { name: 'udnctl', version: '1.2.3', digest: 'sha256:abc', created: '1970-01-01T00:00:00Z' };
  const document = spdx(subject, debianComponents(STATUS, 'trixie'));
  expect(document.packages.map(({ SPDXID, name }) => `${SPDXID} ${name}`)).toEqual([
    'SPDXRef-Image udnctl',
    'SPDXRef-Package-0 libc6',
    'SPDXRef-Package-1 ovn-host',
  ]);
  const contained = document.relationships.filter(({ relationshipType }) => relationshipType === 'CONTAINS');
  expect(contained.map(({ relatedSpdxElement }) => relatedSpdxElement)).toEqual([
    'SPDXRef-Package-0',
    'SPDXRef-Package-1',
  ]);
});
