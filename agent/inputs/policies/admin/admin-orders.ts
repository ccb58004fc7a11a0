/** The policies of both tiers in their orders. Firewalls have none: there is one for a pod. */
import type { AdminPolicy } from '../../../../api/admin-policy/types.ts';
import { ACL_RANKS } from '../../../model/registry/acls.ts';
import type { Problem } from '../../problem.ts';
import { AdminOrder } from './order.ts';
import { widthOf } from './places.ts';

export class AdminOrders {
  readonly #orders = { admin: new AdminOrder(), baseline: new AdminOrder() };

  /**
   * @param policy undefined: it is gone
   * @returns keys of those that are at another place now
   */
  put(key: string, policy: AdminPolicy | undefined): readonly string[] {
    const orders = Object.values(this.#orders);
    for (const order of orders) order.delete(key);
    if (policy !== undefined && policy.tier !== 'firewall') {
      const { name, priority, tier } = policy;
      this.#orders[tier].set({ key, name, priority, width: widthOf(policy) });
    }
    return orders.flatMap((order) => order.settle());
  }

  /** OVN's priority of a policy's first rule; undefined: there is no room for it. */
  placeOf({ tier }: AdminPolicy, key: string): number | undefined {
    return tier === 'firewall' ? ACL_RANKS.firewallRules.priority : this.#orders[tier].placeOf(key);
  }

  /** Those that there is no room for. */
  problems(): Problem[] {
    return Object.values(this.#orders).flatMap((order) => order.unplaced().map(noRoom));
  }
}

const noRoom = (object: string): Problem => ({
  object,
  message: 'there are too many policies of its tier: it is not enforced, as it comes last in their order',
  cause: 'policy-not-enforced',
});
