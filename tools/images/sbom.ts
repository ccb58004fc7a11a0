/** A list of what an image has: SPDX 2.3 in JSON, of Debian's packages and of the npm packages in the bundles. Pure. */
import { z } from 'zod';

export interface Component {
  readonly name: string;
  readonly version: string;
  /** github.com/package-url/purl-spec */
  readonly purl: string;
  readonly license: string;
}

/** @param status dpkg(1)'s own list: paragraphs of deb822 */
export const debianComponents = (status: string, suite: string): Component[] =>
  status
    .split(/\n{2,}/)
    .map(
      (paragraph) => new Map([...paragraph.matchAll(/^([A-Za-z-]+): (.*)$/gm)].map(([, key, value]) => [key, value])),
    )
    .filter((fields) => fields.get('Status') === 'install ok installed')
    .map((fields) => {
      const [name = '', version = '', architecture = ''] = ['Package', 'Version', 'Architecture'].map((key) =>
        fields.get(key),
      );
      const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=${suite}`;
      return { name, version, purl, license: 'NOASSERTION' };
    });

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
    }),
  ),
});

/** @param lock the content of package-lock.json. What only tests and tools need is in no image. */
export const npmComponents = (lock: unknown): Component[] =>
  Object.entries(lockSchema.parse(lock).packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version = '', license = 'NOASSERTION' }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return { name, version, license, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` };
    });

export interface SbomSubject {
  readonly name: string;
  readonly version: string;
  /** Of the archive. */
  readonly digest: string;
  readonly created: string;
}

export const spdx = (image: SbomSubject, components: readonly Component[]) => ({
  spdxVersion: 'SPDX-2.3',
  dataLicense: 'CC0-1.0',
  SPDXID: 'SPDXRef-DOCUMENT',
  name: `${image.name}-${image.version}`,
  documentNamespace: `urn:ovn-udn:sbom:${image.name}:${image.digest}`,
  creationInfo: { created: image.created, creators: ['Tool: ovn-udn make images'] },
  packages: [
    { ...common(image.name, image.version, 'Apache-2.0'), SPDXID: IMAGE },
    ...components.map(({ name, version, license, purl }, index) => ({
      ...common(name, version, license),
      SPDXID: `SPDXRef-Package-${index}`,
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
    })),
  ],
  relationships: [
    { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: IMAGE },
    ...components.map((_, index) => ({
      spdxElementId: IMAGE,
      relationshipType: 'CONTAINS',
      relatedSpdxElement: `SPDXRef-Package-${index}`,
    })),
  ],
});

const IMAGE = 'SPDXRef-Image';

const common = (name: string, versionInfo: string, license: string) => ({
  name,
  versionInfo,
  downloadLocation: 'NOASSERTION',
  filesAnalyzed: false,
  licenseConcluded: 'NOASSERTION',
  licenseDeclared: license,
});
