/** What the elements of one `k8s.v1.cni.cncf.io/networks` may not say together, or about their place. Pure. */
import { FAMILIES, ipFamily } from '../../net/ip.ts';
import { DEFAULT_INTERFACE, PRIMARY_INTERFACE } from '../names.ts';
import type { Attachment } from './network-selection.ts';

export interface BrokenRule {
  /** `[1].interface` */
  readonly field: string;
  readonly message: string;
}

/** The first rule that is broken, of the first element that breaks one. */
export const brokenSelectionRule = (attachments: readonly Attachment[]): BrokenRule | undefined => {
  const interfaces = new Map<string, number>();
  const claims = new Map<string, number>();
  let routed: number | undefined;
  for (const [index, attachment] of attachments.entries()) {
    const { interfaceName } = attachment;
    const found =
      takenInterface(attachment, interfaces.get(interfaceName)) ??
      wrongClaim(attachment, claims) ??
      secondDefaultRoute(attachment, routed) ??
      mappedTwice(attachment);
    if (found !== undefined) return { ...found, field: `[${index}].${found.field}` };
    interfaces.set(interfaceName, index);
    if (attachment.ipamClaim !== undefined) claims.set(attachment.ipamClaim, index);
    if (attachment.defaultRoute.length > 0) routed = index;
  }
  return undefined;
};

/** Section 4.1.2.1.5; the pod has these links whatever it selects. */
const takenInterface = ({ interfaceName }: Attachment, first: number | undefined): BrokenRule | undefined => {
  const field = 'interface';
  if (first !== undefined) return { field, message: `"${interfaceName}" is the interface of [${first}] already` };
  const owner = OWN_INTERFACES.get(interfaceName);
  return owner === undefined ? undefined : { field, message: `"${interfaceName}" is the pod's ${owner}` };
};

const OWN_INTERFACES: ReadonlyMap<string, string> = new Map([
  ['lo', 'loopback interface'],
  [DEFAULT_INTERFACE, 'interface on the default network'],
  [PRIMARY_INTERFACE, 'interface on its primary network'],
]);

/** Section 4.1.2.1.11. Two interfaces of one pod with the addresses of one claim would answer for each other. */
const wrongClaim = ({ ips, ipamClaim }: Attachment, claims: ReadonlyMap<string, number>): BrokenRule | undefined => {
  if (ipamClaim === undefined) return undefined;
  const field = 'ipam-claim-reference';
  const first = claims.get(ipamClaim);
  if (first !== undefined) return { field, message: `"${ipamClaim}" is the claim of [${first}] already` };
  return ips.length === 0 ? undefined : { field, message: 'excludes "ips": the addresses are those of the claim' };
};

/** Section 4.1.2.1.9. Of several gateways of a family the kernel would take one by its own choice. */
const secondDefaultRoute = ({ defaultRoute }: Attachment, first: number | undefined): BrokenRule | undefined => {
  const field = 'default-route';
  if (defaultRoute.length === 0) return undefined;
  if (first !== undefined) return { field, message: `only one element may have it, and [${first}] has it already` };
  const twice = FAMILIES.find((family) => defaultRoute.filter((ip) => ipFamily(ip) === family).length > 1);
  return twice === undefined ? undefined : { field, message: `has more than one gateway of IPv${twice}` };
};

/** Section 4.1.2.1.7: one port of the host leads to one place. */
const mappedTwice = ({ portMappings = [] }: Attachment): BrokenRule | undefined => {
  const seen = new Set<string>();
  for (const { hostPort, protocol, hostIp } of portMappings) {
    const entry = `${protocol} ${hostPort} ${hostIp ?? ''}`;
    if (seen.has(entry))
      return { field: 'portMappings', message: `has ${protocol} port ${hostPort} of the host twice` };
    seen.add(entry);
  }
  return undefined;
};
