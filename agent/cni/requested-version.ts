import { CNI_VERSIONS, type CniVersion } from '../../api/cni/version.ts';

/** The version that an error has to have: the request's if we speak it, also when the rest of it cannot be read. */
export const requestedVersion = (stdin: string): CniVersion | undefined => {
  const asked = /"cniVersion"\s*:\s*"([^"]*)"/.exec(stdin)?.[1];
  return CNI_VERSIONS.find((version) => version === asked);
};
