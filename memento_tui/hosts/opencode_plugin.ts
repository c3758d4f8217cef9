// Written by `memento install opencode`; `memento uninstall opencode` takes it out. Changes made here are lost.
import { spawn } from "node:child_process"
import { mkdir, readdir, stat, unlink, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"

const PROGRAM = __PROGRAM__
const OPTIONS = __OPTIONS__
const DEADLINE = 5_000 // milliseconds
const KEPT = 14 * 24 * 3_600_000 // milliseconds that a copy of a transcript stays

// OpenCode keeps its transcripts in a database of its own; the hook reads one from a file.
const COPIES = join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "memento", "opencode")

// What memento tells about an event; nothing where it is silent, slow or gone. The agent never waits for longer.
function ask(event: string, said: Record<string, unknown>): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, [event, ...OPTIONS], { stdio: ["pipe", "pipe", "ignore"] })
    const late = setTimeout(() => child.kill("SIGKILL"), DEADLINE)
    const chunks: Buffer[] = []
    const end = () => {
      clearTimeout(late)
      try {
        const answer = JSON.parse(Buffer.concat(chunks).toString("utf8"))
        resolve(String(answer?.hookSpecificOutput?.additionalContext ?? ""))
      } catch {
        resolve("")
      }
    }
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.on("error", end)
    child.on("close", end)
    child.stdin.on("error", () => undefined)
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...said }))
  })
}

async function forgetOldCopies(): Promise<void> {
  for (const name of await readdir(COPIES).catch(() => [])) {
    const path = join(COPIES, name)
    const found = await stat(path).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > KEPT) await unlink(path).catch(() => undefined)
  }
}

export const Memento = async ({ client, directory }: any) => {
  const greeted = new Set<string>()
  await forgetOldCopies()

  async function copied(session: string): Promise<string> {
    const found = await client.session.messages({ path: { id: session } })
    const lines = (found?.data ?? []).map(({ info, parts }: any) => {
      const texts = parts.filter((part: any) => part.type === "text" && !part.synthetic).map((part: any) => part.text)
      return JSON.stringify({ role: info.role, content: texts.join("\n"), session, cwd: directory, agent: "opencode" })
    })
    await mkdir(COPIES, { recursive: true, mode: 0o700 })
    const path = join(COPIES, `${session.replace(/[^\w-]/g, "_")}.jsonl`)
    await writeFile(path, lines.join("\n") + "\n", { mode: 0o600 })
    return path
  }

  async function handOver(event: string, session: string): Promise<void> {
    try {
      await ask(event, { session_id: session, cwd: directory, transcript_path: await copied(session) })
    } catch {
      // A transcript that cannot be read is learnt from another time.
    }
  }

  return {
    "chat.message": async (input: any, output: any) => {
      const session = input.sessionID
      const typed = output.parts.filter((part: any) => part.type === "text" && !part.synthetic)
      const last = output.parts.at(-1)
      if (!session || !last || typed.length === 0) return
      const prompt = typed.map((part: any) => part.text).join("\n")
      const told: string[] = []
      if (!greeted.has(session)) {
        greeted.add(session)
        told.push(await ask("SessionStart", { session_id: session, cwd: directory, source: "startup" }))
      }
      told.push(await ask("UserPromptSubmit", { session_id: session, cwd: directory, prompt }))
      const text = told.filter(Boolean).join("\n\n")
      if (!text) return
      // Parts are kept in the order of their ids.
      output.parts.push({
        id: `${last.id}m`,
        sessionID: session,
        messageID: output.message.id,
        type: "text",
        text,
        synthetic: true,
      })
    },
    "experimental.session.compacting": async (input: any) => {
      await handOver("PreCompact", input.sessionID)
      greeted.delete(input.sessionID)
    },
    event: async ({ event }: any) => {
      if (event.type === "session.idle") await handOver("Stop", event.properties.sessionID)
    },
  }
}
