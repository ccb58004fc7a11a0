/** What is let through between two pods: everything, or some ports. Pure. */
import type { EndFamilyStatus, EndRuleStatus, PolicyEndStatus } from '../../api/policy-status.ts';
import { both, complement, EVERYTHING, isEverything, merged, type Ports } from '../../net/port-regions.ts';

const MAX_PORT = 65_535;

/** Of one end; undefined: it is not known. */
export const lets = (
  { verdict, families }: PolicyEndStatus,
  family: EndFamilyStatus['family'],
): readonly Ports[] | undefined => {
  if (verdict === 'unknown') return undefined;
  if (verdict === 'open') return [EVERYTHING];
  const found = families.find((one) => one.family === family);
  if (found?.lets !== undefined) return found.lets;
  // An agent that knows no administrators' policies.
  const rules = found?.rules ?? [];
  return merged(rules.filter(({ lacks }) => lacks === undefined).flatMap(({ l4 }) => portsOf(l4)));
};

/** By both ends; undefined: not known, as one of them is not. */
export const letThrough = (
  egress: PolicyEndStatus | undefined,
  ingress: PolicyEndStatus | undefined,
  family: EndFamilyStatus['family'],
): readonly Ports[] | undefined => {
  const [out, into] = [egress && lets(egress, family), ingress && lets(ingress, family)];
  // What one end denies is denied.
  if (out?.length === 0 || into?.length === 0) return [];
  return out === undefined || into === undefined ? undefined : both(out, into);
};

const portsOf = (l4: EndRuleStatus['l4']): readonly Ports[] => {
  if (l4 === undefined) return [EVERYTHING];
  const { protocol, ports = [[0, MAX_PORT]] } = l4;
  return ports.map(([first, last]) => ({ protocol, first, last }));
};

/** `all`, `-` for nothing, `TCP 80,8000-8010 UDP`, `all but TCP 80` */
export const portsText = (ports: readonly Ports[]): string => {
  if (ports.length === 0) return '-';
  if (isEverything(ports)) return 'all';
  if (ports.some(({ protocol }) => protocol === 'other')) return `all but ${portsText(complement(ports))}`;
  return [...Map.groupBy(ports, ({ protocol }) => protocol)]
    .map(([protocol, some]) => [protocol?.toUpperCase(), some.map(rangeText).join(',')].join(' ').trim())
    .join(' ');
};

const rangeText = ({ first, last }: Ports): string => {
  if (first === 0 && last === MAX_PORT) return '';
  return first === last ? String(first) : `${first}-${last}`;
};
