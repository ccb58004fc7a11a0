/**
 * What no two nodes may share: machines that were cloned have one chassis, and an agent writes of its own Node what it likes.
 * Packets for one of two such nodes would arrive at the other, so the oldest has it, of those of one second the first by name,
 * and the others are left out by everybody. An address that the Node's status has is that node's, whoever is older: no agent writes there.
 */
import { addressOf } from '../../net/cidr.ts';
import type { NodeFact } from '../model/facts.ts';

export interface NodeClaim {
  readonly name: string;
  /** Sorts by age. */
  readonly createdAt: string;
  readonly things: readonly string[];
  /** What somebody else than the node's agent says is the node's: it comes before all who only say so themselves. */
  readonly proven?: readonly string[];
}

export class NodeClaims {
  readonly #claims = new Map<string, NodeClaim>();
  readonly #claimants = new Map<string, ReadonlySet<string>>();

  /** Undefined when the node is gone. @returns the other nodes whose standing may have changed */
  set(node: string, claim: NodeClaim | undefined): ReadonlySet<string> {
    const before = allOf(this.#claims.get(node));
    const now = allOf(claim);
    if (claim === undefined) this.#claims.delete(node);
    else this.#claims.set(node, claim);
    const others = new Set<string>();
    for (const thing of before.union(now)) {
      const claimants = new Set(this.#claimants.get(thing));
      for (const other of claimants) if (other !== node) others.add(other);
      if (now.has(thing)) claimants.add(node);
      else claimants.delete(node);
      if (claimants.size === 0) this.#claimants.delete(thing);
      else this.#claimants.set(thing, claimants);
    }
    return others;
  }

  /** What this node claims and an older one has, as a message without a full stop. */
  refusalOf(node: string): string | undefined {
    const own = this.#claims.get(node);
    for (const thing of own?.things ?? []) {
      for (const other of this.#claimants.get(thing) ?? []) {
        const claim = this.#claims.get(other);
        if (own !== undefined && claim !== undefined && isBefore(claim, own, thing))
          return `${thing} already belongs to node ${other}`;
      }
    }
    return undefined;
  }
}

/** What makes a node itself: with another's it is none. */
export const identityOf = ({ id, chassisId, transitAddresses }: NodeFact): string[] => [
  ...(chassisId === undefined ? [] : [`its chassis id ${chassisId}`]),
  ...(id === undefined ? [] : [`its node id ${id}`]),
  ...transitAddresses.map((address) => `its transit address ${addressOf(address)}`),
];

const allOf = (claim: NodeClaim | undefined): ReadonlySet<string> =>
  new Set([...(claim?.things ?? []), ...(claim?.proven ?? [])]);

const isBefore = (a: NodeClaim, b: NodeClaim, thing: string): boolean => {
  const isProven = a.proven?.includes(thing) === true;
  if (isProven !== (b.proven?.includes(thing) === true)) return isProven;
  return a.createdAt === b.createdAt ? a.name < b.name : a.createdAt < b.createdAt;
};
