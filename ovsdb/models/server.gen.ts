// Generated from ovsdb/schemas/server.ovsschema by `make gen`. DO NOT EDIT.
import { optional, scalar } from '../schema/column.ts';
import type { DatabaseModel } from '../schema/model.ts';
import type { Uuid } from '../uuid.ts';

/** A row of _Server's table Database. */
export interface DatabaseRow {
  readonly _uuid: Uuid;
  readonly cid: Uuid | undefined;
  readonly connected: boolean;
  readonly index: number | undefined;
  readonly leader: boolean;
  readonly model: 'standalone' | 'clustered' | 'relay';
  readonly name: string;
  readonly schema: string | undefined;
  readonly sid: Uuid | undefined;
}

/** The tables of _Server. */
export type OvsdbServer = {
  readonly Database: DatabaseRow;
};

/** _Server 1.2.0. */
export const ovsdbServer: DatabaseModel<OvsdbServer> = {
  name: '_Server',
  version: '1.2.0',
  tables: {
    Database: {
      isRoot: true,
      indexes: [],
      columns: {
        cid: optional('uuid'),
        connected: scalar('boolean'),
        index: optional('integer'),
        leader: scalar('boolean'),
        model: scalar('string'),
        name: scalar('string'),
        schema: optional('string'),
        sid: optional('uuid'),
      },
    },
  },
};
