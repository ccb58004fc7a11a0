import { openflowBackendSuite } from './backend.suite.ts';
import { VswitchWorld } from './testing/vswitch-world.ts';

openflowBackendSuite('ovs-vswitchd', () => VswitchWorld.create());
