/** The one change to sources of network-policy-api: its tests can leave out probes of SCTP. Pure. */

/** In both versions of the helper, of which one returns whether the probe was as expected. */
const START = /^func PokeServer\([^{]*\)( bool)? \{\n/m;

export const SKIP = 'if SkipSCTP && protocol == "sctp"';

/** @param helper source of `conformance/utils/kubernetes/helper.go` @throws Error when it is another one */
export const withoutSctp = (helper: string): string => {
  if (!START.test(helper)) throw new Error('network-policy-api has no PokeServer any more: change without-sctp.ts');
  const log = 't.Log("not probed: SCTP, which the kernel does not have")';
  return helper.replace(START, (start, result?: string) => {
    const end = result === undefined ? 'return' : 'return true';
    return `${start}\t${SKIP} {\n\t\t${log}\n\t\t${end}\n\t}\n`;
  });
};
