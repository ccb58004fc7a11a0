/** Versions of the CNI specification that the plugin speaks, and its answer to VERSION (SPEC.md, section 2, "VERSION"). */
import { CniError } from './error.ts';

export const CNI_VERSIONS = ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;

export type CniVersion = (typeof CNI_VERSIONS)[number];

/** The newest one: what errors and answers use when the request's own version is unknown. */
export const LATEST_CNI_VERSION: CniVersion = '1.1.0';

/** @throws CniError code 1 */
export const parseCniVersion = (value: unknown): CniVersion => {
  const version = CNI_VERSIONS.find((known) => known === value);
  if (version !== undefined) return version;
  throw new CniError('incompatibleVersion', `CNI version ${JSON.stringify(value ?? '')} is not supported`, {
    details: `supported are ${CNI_VERSIONS.join(', ')}`,
    field: 'cniVersion',
  });
};

/** @param asked the version in the request; the answer repeats it whether it is supported or not */
export const formatVersionResult = (asked: string): string =>
  JSON.stringify({ cniVersion: asked === '' ? LATEST_CNI_VERSION : asked, supportedVersions: CNI_VERSIONS });

/** GC came with 1.1.0, CHECK with 0.4.0. */
export const isAtLeast = (version: CniVersion, minimum: CniVersion): boolean =>
  CNI_VERSIONS.indexOf(version) >= CNI_VERSIONS.indexOf(minimum);
