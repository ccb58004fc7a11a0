import { linuxHarness } from './harness.suite.ts';
import { kernelSuite } from './kernel/kernel.suite.ts';
import { podInterfaceSuite } from './pod-interface/pod-interface.suite.ts';

kernelSuite('Linux', linuxHarness);
podInterfaceSuite('Linux', linuxHarness);
