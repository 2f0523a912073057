/** Words with the same meaning in questions about work and software, in English and German. */

/**
 * One group per line, members separated by commas. Members are lower-case without accents, as tokens are. All words of a member
 * must occur in a passage. A member in parentheses is recognized in a query but not searched for, because it has other meanings.
 */
const GROUPS = `
holiday, vacation, leave, annual leave, time off, days off, pto, urlaub, urlaubstage, jahresurlaub, ferien, ferientage, freie tage
public holiday, bank holiday, feiertag
sick leave, sick days, illness, (ill), sick, krank, krankheit, krankmeldung, krankenstand, arbeitsunfahigkeit
parental leave, maternity leave, paternity leave, elternzeit, mutterschutz
(pay), salary, wage, (compensation), remuneration, earnings, gehalt, lohn, vergutung, verdienst
bonus, premium, pramie, sonderzahlung
(raise), pay rise, salary increase, gehaltserhohung, lohnerhohung
quit, resign, resignation, terminate, termination, (notice), kundigen, kundigung
notice period, kundigungsfrist
(fire), dismiss, dismissal, lay off, entlassen, entlassung
hire, recruit, (employ), einstellen, einstellung
job, (position), (role), stelle, arbeitsplatz
employee, staff, worker, colleague, mitarbeiter, mitarbeiterin, angestellte, beschaftigte, kollege
boss, manager, supervisor, chef, vorgesetzte, vorgesetzter
employer, (company), arbeitgeber, firma, unternehmen
customer, client, kunde
meeting, (appointment), besprechung, termin, sitzung
remote work, work from home, (remotely), home office, telework, homeoffice, heimarbeit
working hours, work hours, office hours, arbeitszeit
overtime, uberstunden, mehrarbeit
probation, trial period, probezeit
contract, agreement, vertrag, vereinbarung
reimburse, reimbursement, refund, repay, erstatten, erstattung, ruckerstattung
expenses, (costs), spesen, auslagen, reisekosten
cost, price, fee, (charge), kosten, preis, gebuhr
buy, purchase, (order), kaufen, bestellen, anschaffen
invoice, bill, rechnung
budget, allowance
tax, steuer
doctor, physician, arzt
medical certificate, doctor note, sick note, attest, krankschreibung
car, vehicle, auto, wagen, fahrzeug
bike, bicycle, fahrrad
(train), rail, bahn, zug
flight, plane, flug, flugzeug
hotel, accommodation, lodging, unterkunft, ubernachtung
travel, trip, journey, reise, dienstreise
laptop, computer, notebook, rechner
phone, telephone, mobile, telefon, handy
password, passphrase, passwort, kennwort
log in, login, sign in, log on, anmelden, anmeldung, einloggen
log out, logout, sign out, log off, abmelden, abmeldung
sign up, register, registration, registrieren, registrierung
delete, remove, erase, loschen, entfernen
create, add, (make), erstellen, anlegen, hinzufugen
change, modify, edit, andern, anderung, bearbeiten
rename, umbenennen
turn off, switch off, disable, deactivate, abschalten, ausschalten, deaktivieren
turn on, switch on, enable, activate, einschalten, aktivieren
start, launch, run, starten, ausfuhren
stop, (end), halt, stoppen, beenden, anhalten
cancel, abort, abbrechen, stornieren
restart, reboot, neustart, neustarten
install, installation, set up, setup, installieren, einrichten, einrichtung
uninstall, deinstallieren
upgrade, update, aktualisieren, aktualisierung
download, herunterladen
upload, hochladen
save, (store), speichern
backup, back up, sicherung, sicherungskopie, datensicherung
restore, recover, recovery, wiederherstellen, wiederherstellung
(find), search, (look up), suchen, finden, suche
show, display, (view), anzeigen
send, submit, senden, schicken, einreichen
configure, configuration, settings, options, preferences, konfigurieren, konfiguration, einstellungen
default, (standard), standardwert, voreinstellung
maximum, max, limit, (at most), hochstens, maximal, obergrenze, grenze
minimum, (min), (at least), mindestens, minimal, untergrenze
timeout, time limit, zeitlimit, zeituberschreitung
error, failure, fault, fehler, storung
bug, defect, (issue), (problem)
crash, absturz, absturzen
fix, repair, (solve), (resolve), beheben, reparieren, losen
slow, slowly, latency, langsam
fast, quick, quickly, schnell
size, length, große
permission, (access), (rights), authorization, berechtigung, zugriff, zugriffsrecht, erlaubnis
allowed, permitted, (may), (darf), (durfen), erlaubt, gestattet
forbidden, prohibited, not allowed, verboten, untersagt
required, mandatory, compulsory, obligatory, pflicht, verpflichtend, erforderlich, vorgeschrieben
optional, voluntary, freiwillig
deadline, due date, frist, stichtag
rule, policy, regulation, guideline, regel, richtlinie, vorschrift, regelung
complain, complaint, beschwerde, beschweren
help, (support), assistance, hilfe, unterstutzung
contact, (reach), kontakt, ansprechpartner
example, sample, beispiel
license, licence, lizenz
`

export interface SynonymGroup {
  /** Words and phrases that select the group. */
  members: string[]
  /** Members to search for. */
  terms: string[]
}

export const SYNONYM_GROUPS: readonly SynonymGroup[] = GROUPS.trim()
  .split('\n')
  .map((line) => {
    const members = line.split(',').map((member) => member.trim())
    return { members: members.map((member) => member.replaceAll(/[()]/g, '')), terms: members.filter((member) => !member.startsWith('(')) }
  })
