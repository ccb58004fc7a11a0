import type { OvsdbSession } from '../../ovsdb/session/session.ts';

/**
 * Resolves when the flows of all nodes of the zone are those of the northbound database as it is now: `nb_cfg` is raised,
 * northd passes it on, and ovn-controller answers with `hv_cfg` (ovn-nb(5), NB_Global). The server waits, nobody polls.
 * @throws OvsdbError when that takes longer than `milliseconds`: northd or ovn-controller is not running
 */
export const whenInstalled = async (
  session: Pick<OvsdbSession, 'transact'>,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> => {
  const [, read] = await session.transact(
    [
      { op: 'mutate', table: 'NB_Global', where: [], mutations: [['nb_cfg', '+=', 1]] },
      { op: 'select', table: 'NB_Global', where: [], columns: ['nb_cfg', 'hv_cfg'] },
    ],
    signal,
  );
  const desired = read?.rows?.[0]?.['nb_cfg'];
  const end = performance.now() + milliseconds;
  for (let reached = read?.rows?.[0]?.['hv_cfg']; Number(reached) < Number(desired); ) {
    reached = await nextOf(session, reached as number, Math.max(0, Math.round(end - performance.now())), signal);
  }
};

/** Does not wait for equality: another client that raises `nb_cfg` at the same time would make it skip this value. */
const nextOf = async (
  session: Pick<OvsdbSession, 'transact'>,
  reached: number,
  milliseconds: number,
  signal: AbortSignal,
): Promise<number> => {
  const where = { table: 'NB_Global', where: [], columns: ['hv_cfg'] } as const;
  const [, read] = await session.transact(
    [
      { op: 'wait', ...where, until: '!=', rows: [{ hv_cfg: reached }], timeout: milliseconds },
      { op: 'select', ...where },
    ],
    signal,
  );
  return Number(read?.rows?.[0]?.['hv_cfg'] ?? Number.POSITIVE_INFINITY);
};
