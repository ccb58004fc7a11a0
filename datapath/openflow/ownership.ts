import type { PlanOptions } from './plan.ts';
import { cookieText } from './text/flow.ts';

/** What on a bridge is ours, so that it goes when no owner desires it. */
export type Ownership = Pick<PlanOptions, 'isOurs' | 'isOurGroup'>;

export const ownership = (
  cookies: readonly bigint[],
  isOurGroup: (group: number) => boolean = () => false,
): Ownership => {
  const texts = new Set(cookies.map(cookieText));
  return { isOurs: (cookie) => texts.has(cookie), isOurGroup };
};
