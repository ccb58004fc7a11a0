import type { Cidr } from '../../../net/cidr.ts';
import type { Family } from '../../../net/ip.ts';

/** A policy rule that leads to a table (ip-rule(8), action `lookup`). */
export interface Rule {
  readonly family: Family;
  readonly priority: number;
  readonly from?: Cidr;
  readonly to?: Cidr;
  readonly fwmark?: number;
  /** Which bits of the mark count; all when absent. */
  readonly fwmask?: number;
  readonly iif?: string;
  /** Looks into the table of the VRF that a packet is of; `table` is 0 then. */
  readonly l3mdev?: true;
  readonly table: number;
  /** Who made it: fib_rules.h, `FRA_PROTOCOL`; the numbers of routes. 0 when nobody said. */
  readonly protocol: number;
}

/** As `ip rule` writes it. Two rules that differ only in their protocol have the same text. */
export const ruleText = (rule: Omit<Rule, 'protocol'>): string => {
  const { family, priority, from, to, fwmark, fwmask, iif, l3mdev, table } = rule;
  return [
    `IPv${family} ${priority}:`,
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(to === undefined ? [] : [`to ${to}`]),
    ...(fwmark === undefined ? [] : [`fwmark 0x${fwmark.toString(16)}${maskText(fwmask)}`]),
    ...(iif === undefined ? [] : [`iif ${iif}`]),
    `lookup ${l3mdev === true ? '[l3mdev-table]' : table}`,
  ].join(' ');
};

const maskText = (mask: number | undefined): string => (mask === undefined ? '' : `/0x${mask.toString(16)}`);
