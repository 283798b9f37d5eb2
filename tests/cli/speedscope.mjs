// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What speedscope's own importer makes of the output of perf script: every sample as a line, its stack
// from the outermost frame in, and its time. The importer is taken out of the program as npm has it:
// there it is a function inside of one file for browsers, which here runs without one.
//
// usage: node speedscope.mjs SPEEDSCOPE-PACKAGE FILE

import fs from "node:fs"
import path from "node:path"
import vm from "node:vm"

const [folder, file] = process.argv.slice(2)
const release = path.join(folder, "dist", "release")
const name = fs.readdirSync(release).find((entry) => /^speedscope-.*\.js$/.test(entry))
let program = fs.readFileSync(path.join(release, name), "utf8")

// By what it says on its way: the function that imports, and the one that prepares all importers.
const importer = /"Importing as output of linux perf script"\),(\w+)\(/.exec(program)[1]
const prepare = /async function \w+\(t\)\{return \w+\(t\)\}var (\w+)=/.exec(program)[1]
program = program.replace("(()=>{", `(()=>{globalThis.importer=(t)=>(${prepare}(),${importer}(t));`)

// A browser in which nothing happens.
const nothing = new Proxy(function () {}, {
	get: (target, key) => (key === Symbol.toPrimitive ? () => "" : key === "length" ? 0 : nothing),
	apply: () => nothing,
	construct: () => nothing,
})
for (const word of ["document", "navigator", "localStorage", "location", "requestAnimationFrame",
	"FontFace", "HTMLElement", "Node", "matchMedia", "addEventListener"])
	if (!(word in globalThis)) globalThis[word] = nothing
globalThis.window = globalThis
const { log } = console
console.log = console.error = console.warn = () => {}
process.on("unhandledRejection", () => {})
try {
	vm.runInThisContext(program)
} catch (error) {
	// The program itself may need a page; its importer does not.
}

const lines = fs.readFileSync(file, "latin1").split("\n")
const group = globalThis.importer({ splitLines: () => lines })
for (const profile of group.profiles) {
	log(`${profile.getName()} ${profile.getTotalWeight().toFixed(6)}`)
	profile.forEachCall(
		(node, value) => log(`${value.toFixed(6)} > ${node.frame.name} ${node.frame.file}`),
		(node, value) => log(`${value.toFixed(6)} <`),
	)
}
