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
      { op: 'select', table: 'NB_Global', where: [], columns: ['nb_cfg'] },
    ],
    signal,
  );
  const wanted = read?.rows?.[0]?.['nb_cfg'];
  if (wanted === undefined) return;
  await session.transact(
    [
      {
        op: 'wait',
        table: 'NB_Global',
        where: [],
        columns: ['hv_cfg'],
        until: '==',
        rows: [{ hv_cfg: wanted }],
        timeout: milliseconds,
      },
    ],
    signal,
  );
};
